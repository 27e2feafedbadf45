"""Mixed traffic through a router before backends that fail in every way; see bench/soak.sh.

usage: python3 -m bench.soak ROUTER_BINARY MINUTES SEED GROWTH PAUSE

GROWTH: percent by which the router's memory may grow over the last half; a sanitizer keeps freed memory.
PAUSE: seconds that each client rests between two requests, on average.
"""
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BACKENDS = 5
WORKERS = 40
VICTIM_WORKERS, VICTIM_LIFE = 10, 3.0
SETTLING = 30
SETTINGS = """listen: 127.0.0.1:0
admin: 127.0.0.1:%d
threads: 2
health: {interval: 500ms, ejection: 500ms}
timeouts: {connect: 1s, backend_idle: 2s, first_byte: 20s, idle: 20s, client_idle: 10s}
limits: {prefix_map_bytes: 1MiB}
log: {access: off, level: warn}
backends:
"""
LEVELS = ("connections", "requests_in_flight", "requests_held", "buffered_bytes")


def free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


STARTED = []  # every process, ended with this one whatever happens


def run(command, **options):
    STARTED.append(subprocess.Popen(command, **options))
    return STARTED[-1]


def start(module, *arguments):
    return run([sys.executable, "-B", "-m", "bench.soak." + module, *map(str, arguments)], cwd=ROOT,
               stdout=subprocess.PIPE, text=True)


def wait_until(holds, what, patience=SETTLING):
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        try:
            if holds():
                return True
        except OSError:
            pass
        time.sleep(0.1)
    print("soak: after %d s still not: %s" % (patience, what), flush=True)
    return False


class Chaos:
    def __init__(self, folder, seed):
        self.path = os.path.join(folder, "control")
        self.process = start("backends", self.path, BACKENDS, seed)
        wait_until(lambda: self.ask("ports"), "the backends run")  # the socket's file is there before it listens
        self.ports = [int(port) for port in self.ask("ports").split()]

    def ask(self, line):
        with socket.socket(socket.AF_UNIX) as control:
            control.connect(self.path)
            control.sendall(line.encode() + b"\n")
            return control.makefile().readline()


class Router:
    def __init__(self, binary, folder, ports):
        self.admin_port = free_port()
        path, self.log = os.path.join(folder, "router.yaml"), os.path.join(folder, "router.log")
        with open(path, "w") as file:
            file.write(SETTINGS % self.admin_port + "".join("  - url: http://127.0.0.1:%d\n" % port for port in ports))
        with open(self.log, "w") as log:
            self.process = run([binary, "--config", path], stdout=log, stderr=log)
        wait_until(lambda: self.levels()["backend_healthy"] == len(ports), "all backends are up")
        self.port = self.listening_port()

    def ask(self):
        with urllib.request.urlopen("http://127.0.0.1:%d/file" % self.port, timeout=10) as answer:
            return answer.status == 200

    def metrics(self):
        with urllib.request.urlopen("http://127.0.0.1:%d/metrics" % self.admin_port, timeout=10) as page:
            return page.read().decode()

    def levels(self):
        sums = dict.fromkeys((*LEVELS, "backend_in_flight", "backend_healthy"), 0.0)
        for name, value in re.findall(r"^prefix_router_(\w+)(?:\{[^}]*\})? (\S+)$", self.metrics(), re.M):
            if name in sums:
                sums[name] += float(value)
        return sums

    def listening_port(self):
        """The port that it chose, as the kernel knows it."""
        inodes = {os.readlink("/proc/%d/fd/%s" % (self.process.pid, fd)) for fd in self.descriptors()}
        with open("/proc/net/tcp") as table:
            for row in table.read().splitlines()[1:]:
                fields = row.split()
                port = int(fields[1].split(":")[1], 16)
                if fields[3] == "0A" and "socket:[%s]" % fields[9] in inodes and port != self.admin_port:
                    return port
        raise RuntimeError("the router listens nowhere:\n" + self.tail())

    def descriptors(self):
        return os.listdir("/proc/%d/fd" % self.process.pid)

    def open_sockets(self):
        """What its sockets are connected to, for a person who looks for a leak."""
        shown = subprocess.run(["ss", "-tanp"], capture_output=True, text=True, check=False).stdout
        return "".join(line + "\n" for line in shown.splitlines() if "pid=%d," % self.process.pid in line)

    def resident(self):
        with open("/proc/%d/statm" % self.process.pid) as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def tail(self):
        with open(self.log) as file:
            return file.read()[-3000:]


class Memory(threading.Thread):
    """The router's resident memory, once a second."""

    def __init__(self, router):
        super().__init__(daemon=True)
        self.router, self.samples, self.is_over = router, [], threading.Event()
        self.start()

    def run(self):
        while not self.is_over.wait(1):
            try:
                self.samples.append(self.router.resident())
            except OSError:
                return

    def growth(self):
        """Of the last half: its last fifth against its first."""
        half = self.samples[len(self.samples) // 2:]
        fifth = max(1, len(half) // 5)
        return statistics.median(half[-fifth:]) / statistics.median(half[:fifth]) - 1


def kill_clients(port, control, seconds, seed, pause):
    """Clients one after the other that are killed with everything open."""
    killed, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        victim = start("clients", port, control, VICTIM_WORKERS, seconds, seed + 1000 + killed, pause)
        time.sleep(VICTIM_LIFE)
        victim.kill()
        victim.communicate()
        killed += 1
    return killed


def soak(binary, minutes, seed, growth_limit, pause, folder):
    chaos = Chaos(folder, seed)
    router = Router(binary, folder, chaos.ports)
    idle_descriptors = len(router.descriptors())
    seconds = minutes * 60
    memory = Memory(router)
    began = time.monotonic()
    crowd = start("clients", router.port, chaos.path, WORKERS, seconds, seed, pause)
    killed = kill_clients(router.port, chaos.path, seconds, seed, pause)
    report = json.loads(crowd.communicate()[0] or "{}")
    took = time.monotonic() - began
    memory.is_over.set()
    chaos.ask("calm")
    # An ejected one comes back with a request, after at most a minute.
    wait_until(lambda: router.ask() and router.levels()["backend_healthy"] == BACKENDS, "all backends are back", 90)
    wait_until(lambda: not any(value for name, value in router.levels().items() if name != "backend_healthy"),
               "every level is 0")
    leaked = 0
    if not wait_until(lambda: len(router.descriptors()) <= idle_descriptors, "the descriptors are closed"):
        leaked = len(router.descriptors()) - idle_descriptors
        print(router.open_sockets())
    levels = router.levels()
    faults = json.loads(chaos.ask("faults"))
    router.process.send_signal(signal.SIGTERM)
    code = router.process.wait(SETTLING)
    return conclude(report, levels, leaked, memory.growth() < growth_limit / 100, memory, faults, killed, took, code,
                    router)


def is_by_chance(counts, faults):
    """Unasked bytes that cross a request on their way are rare. A router that does not look at its idle connections
    takes nearly all of them for answers."""
    unasked = faults.get("surplus", 0) + faults.get("late_surplus", 0)
    return counts.get("failed_by_crossed", 0) <= 2 + unasked // 20


def conclude(report, levels, leaked, is_flat, memory, faults, killed, took, code, router):
    counts = report.get("counts", {})
    wrong, lost = report.get("wrong", ["no report"]), report.get("lost", [])
    for name, found in (("wrong", wrong), ("lost", lost)):
        for each in found[:10]:
            print("soak: %s: %s" % (name, each))
    print("soak: what the clients saw: " + json.dumps(counts, sort_keys=True))
    print("soak: what the backends did: " + json.dumps(faults, sort_keys=True))
    print("soak: memory %d MiB at half time, %d MiB at the end" % (
        memory.samples[len(memory.samples) // 2] >> 20, memory.samples[-1] >> 20))
    requests = counts.get("requests", 0)
    excused = sum(count for name, count in counts.items() if name.startswith("failed_by_"))
    leaks = {**{name: int(levels[name]) for name in (*LEVELS, "backend_in_flight")}, "descriptors": leaked}
    is_good = (requests > 0 and not wrong and not lost and not any(leaks.values()) and is_flat and
               levels["backend_healthy"] == BACKENDS and code == 0 and is_by_chance(counts, faults))
    if not is_good:
        print("soak: the router's last words:\n" + router.tail())
    print("soak: %s: %d requests in %d s (%d/s), %d failed by their backend, %d clients left, %d processes killed; "
          "wrong %d, lost %d, leaked: %s; memory grew %.1f %% over the last half; exit code %d" % (
              "good" if is_good else "BAD", requests, took, requests / took, excused, counts.get("left", 0), killed,
              len(wrong), len(lost), ", ".join("%s %d" % each for each in leaks.items()), 100 * memory.growth(), code))
    return 0 if is_good else 1


if __name__ == "__main__":
    try:
        with tempfile.TemporaryDirectory() as scratch:
            sys.exit(soak(os.path.abspath(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]),
                          float(sys.argv[5]), scratch))
    finally:
        for process in STARTED:
            process.kill()
            process.wait()
