"""Child processes: started in groups of their own, ended together, and what they cost as /proc tells it."""
import os
import signal
import socket
import subprocess
import time


class Processes:
    """Everything that one router's run started. Use as a context: all of it has ended at the end."""

    def __init__(self, folder):
        self.folder = folder
        self.running = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop_all()

    def start(self, name, command, environment=None):
        log = open(os.path.join(self.folder, name + ".log"), "wb")
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                 start_new_session=True, env={**os.environ, **(environment or {})})
        child.log_path = log.name
        self.running.append(child)
        return child

    def stop_all(self):
        for child in reversed(self.running):
            signal_group(child, signal.SIGTERM)
        deadline = time.monotonic() + 5
        for child in reversed(self.running):
            try:
                child.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                pass
            signal_group(child, signal.SIGKILL)  # and what a router's parent left behind
            child.wait()
        self.running = []


def run(command):
    """The finished process, with what it printed."""
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def signal_group(child, number):
    try:
        os.killpg(child.pid, number)
    except ProcessLookupError:
        pass


def log_tail(child, lines=15):
    with open(child.log_path, errors="replace") as file:
        return "".join(file.readlines()[-lines:])


def free_ports(count):
    """Ports that nobody listens on; held open together so that they differ."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def tree(pid):
    """The process and its descendants."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            fields = read("/proc/%s/stat" % entry).rpartition(")")[2].split()
            if fields:
                children.setdefault(int(fields[1]), []).append(int(entry))
    found, pending = [], [pid]
    while pending:
        one = pending.pop()
        found.append(one)
        pending += children.get(one, [])
    return found


def cpu_seconds(pid):
    """Of all threads of the process tree, to the nanosecond: ticks of 10 ms would be too coarse."""
    total = 0
    for one in tree(pid):
        for task in listing("/proc/%d/task" % one):
            fields = read("/proc/%d/task/%s/schedstat" % (one, task)).split()
            total += int(fields[0]) if fields else 0
    return total / 1e9


def rss_mb(pid):
    pages = 0
    for one in tree(pid):
        fields = read("/proc/%d/statm" % one).split()
        pages += int(fields[1]) if fields else 0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def read(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:  # it has ended meanwhile
        return ""


def listing(path):
    try:
        return os.listdir(path)
    except OSError:
        return []
