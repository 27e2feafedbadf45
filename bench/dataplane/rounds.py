"""One backend, every proxy before it, and rounds in which each proxy gets each workload in turn."""
import json
import os
import socket
import subprocess
import time

import peers
import processes
from workloads import WORKLOADS

START_SECONDS = 30
BUSY_SHARE = 0.85  # of one core: above it the backend or the client limits what is measured
LIFETIME_SECONDS = "7200"


class Bench:
    """samples[(workload, metric)][proxy] is a list with one value per round."""

    def __init__(self, arguments, names, folder):
        self.arguments, self.names, self.folder = arguments, names, folder
        self.children = processes.Processes(folder)
        self.samples, self.errors, self.busy = {}, [], {}
        self.running = {}

    def __enter__(self):
        try:
            self.start_all()
        except BaseException:
            self.children.stop_all()
            raise
        return self

    def start_all(self):
        self.backend = self.children.start("backend", [self.program("dataplane-backend"), "2", LIFETIME_SECONDS])
        self.backend_ports = self.wait_for(self.printed_ports, "the backend", self.backend)
        for name in self.names:
            self.running[name] = self.start(name, self.children, self.folder)

    def printed_ports(self):
        ports = [int(line) for line in processes.read(self.backend.log_path).split()]
        return ports if len(ports) == 2 else None

    def __exit__(self, *_):
        self.children.stop_all()

    def program(self, name):
        return os.path.join(self.arguments.bin, name)

    def start(self, name, children, folder):
        folder = os.path.join(folder, name)
        os.makedirs(folder, exist_ok=True)
        os.chmod(folder, 0o777)  # nginx's workers run as somebody else
        port, spare = processes.free_ports(2)
        words, environment = peers.command(name, self.arguments, folder, port, spare, self.backend_ports)
        child = children.start(name, words, environment)
        child.port = port
        self.wait_for(lambda: self.answers(port), name, child)
        return child

    def answers(self, port):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            return False
        found = subprocess.run([self.program("dataplane-load"), "--port", str(port), "--connections", "4", "--seconds", "0.1"],
                               capture_output=True, check=False)
        return found.returncode == 0

    def wait_for(self, condition, what, child):
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            found = condition()
            if found:
                return found
            if child.poll() is not None:
                break
            time.sleep(0.05)
        raise SystemExit("bench/dataplane.sh: %s did not start:\n%s" % (what, processes.log_tail(child)))

    def round(self, number):
        turn = number % len(self.names)
        order = self.names[turn:] + self.names[:turn]
        for key in self.arguments.workloads:
            workload = WORKLOADS[key]
            if self.wants(workload.cost):
                for name in order:
                    if workload.cost.startswith("rss"):
                        # Memory does not vary as times do, and fresh processes take long to start.
                        if number < 3:
                            self.measure_memory(key, workload, name)
                    else:
                        self.measure_cpu(key, workload, name)
            if workload.rate and self.wants("added_p50_us"):
                self.measure_latency(key, workload, order)

    def wants(self, metric):
        return metric.startswith(self.arguments.metrics)

    def add(self, key, metric, name, value):
        self.samples.setdefault((key, metric), {}).setdefault(name, []).append(value)

    def load(self, key, name, port, words, seconds):
        """The client's report of `words` sent to `port`."""
        before, begun = processes.cpu_seconds(self.backend.pid), time.monotonic()
        run = processes.run([self.program("dataplane-load"), "--port", str(port), "--seconds", "%g" % seconds] + words)
        share = (processes.cpu_seconds(self.backend.pid) - before) / (time.monotonic() - begun)
        found = json.loads(run.stdout.splitlines()[-1]) if run.stdout else {"errors": 1, "first_error": run.stderr, "cpu_share": 0}
        if found["errors"]:
            self.errors.append("%s, %s: %d errors, the first: %s" % (key, name, found["errors"], found["first_error"]))
        for what, one in (("backend", share), ("client", found["cpu_share"])):
            self.busy[(key, what)] = max(self.busy.get((key, what), 0), one)
        return found

    def measure_cpu(self, key, workload, name):
        proxy = self.running[name]
        before = processes.cpu_seconds(proxy.pid)
        found = self.load(key, name, proxy.port, workload.load.split(), self.arguments.run_seconds)
        spent = processes.cpu_seconds(proxy.pid) - before
        count = found.get("events" if workload.cost == "cpu_us_per_event" else "requests", 0)
        if not count:
            return
        self.add(key, workload.cost, name, spent * 1e6 / count)
        if found["events"]:
            self.add(key, "event_delay_p50_us", name, found["event_delay_p50_us"])
            self.add(key, "event_delay_p99_us", name, found["event_delay_p99_us"])
        else:
            self.add(key, "requests_per_second", name, found["requests"] / found["seconds"])

    def measure_latency(self, key, workload, order):
        """Added: beyond what the backend alone takes at the same rate, just before."""
        words = workload.load.split() + ["--rate", str(workload.rate)]
        direct = self.load(key, "the backend alone", self.backend_ports[0], words, self.arguments.run_seconds / 2)
        for name in order:
            found = self.load(key, name, self.running[name].port, words, self.arguments.run_seconds / 2)
            for quantile in ("p50", "p99"):
                field = "latency_%s_us" % quantile
                if field in found and field in direct:
                    self.add(key, "added_%s_us" % quantile, name, max(0.0, found[field] - direct[field]))

    def measure_memory(self, key, workload, name):
        """Of a fresh process: what one has been given once it seldom gives back."""
        folder = os.path.join(self.folder, key)
        os.makedirs(folder, exist_ok=True)
        with processes.Processes(folder) as children:
            proxy = self.start(name, children, folder)
            before = processes.rss_mb(proxy.pid)
            words = [self.program("dataplane-load"), "--port", str(proxy.port), "--seconds", "20"] + workload.load.split()
            client = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            is_ready = client.stdout.readline() == "ready\n"
            time.sleep(0.3)
            after = processes.rss_mb(proxy.pid)
            found = json.loads(client.communicate("")[0] or '{"errors": 1, "first_error": "no report"}')
        if found["errors"] or not is_ready:
            self.errors.append("%s, %s: %d errors, the first: %s" % (key, name, found["errors"], found["first_error"]))
            return
        connections = int(workload.load.split("--connections ")[1].split()[0])
        self.add(key, workload.cost, name, (after - before) * 1000 / connections)

    def warnings(self):
        for (key, what), share in sorted(self.busy.items()):
            if share > BUSY_SHARE:
                yield "%s: the %s was the bottleneck (%d %% of a core); throughput says nothing then" % (key, what, share * 100)
        yield from self.errors
