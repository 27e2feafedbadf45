"""What a request costs the router as one thing at a time grows; and how long threads wait for the routing state."""
import json
import os
import re
import statistics
import time
import urllib.request
from typing import NamedTuple

import processes

START_SECONDS = 30
PLAIN = ["--body", "2048", "--connections", "64"]
HOLDING_LIMIT = 8  # in flight at each of two backends; what is beyond waits in the router
BYTES_PER_ENTRY = 640  # of a body, roughly: how many bodies fill a map


class Point(NamedTuple):
    label: str
    load: list = PLAIN            # arguments of dataplane-load
    config: dict = {}             # beside listeners and backends
    backends: int = 2
    models: int = 0               # that each backend serves
    fill: int = 0                 # entries that the map holds before


def sized(count):
    for unit, size in (("MB", 1 << 20), ("KB", 1 << 10)):
        if count >= size:
            return "%d %s" % (count // size, unit)


def sweeps(quick):
    """(what grows, its points)"""
    sizes = [1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24]
    entries = [10_000, 100_000, 1_000_000] + [10_000_000] * (not quick)
    roomy = {"limits": {"prefix_map_bytes": "1GiB"}}
    holding = {"limits": {"max_in_flight_per_backend": HOLDING_LIMIT}}
    yield "prompt", [Point(sized(size), ["--body", str(size), "--connections", "8"]) for size in sizes]
    yield "backends", [Point(str(count), backends=count) for count in (2, 8, 64, 200, 500)]
    yield "map entries", [Point("%g" % count, ["--body", "65536", "--connections", "16"], roomy, fill=count) for count in entries]
    yield "connections", [Point(str(count), ["--body", "2048", "--connections", str(count)]) for count in (10, 100, 1000, 9000)]
    yield "held requests", [Point(str(count), ["--body", "2048", "--connections", str(2 * HOLDING_LIMIT + count)], holding)
                            for count in (0, 10, 100, 1000)]
    yield "models", [Point(str(count), PLAIN + ["--models", str(count)], models=count) for count in (1, 10, 50)]


class Fleet:
    """One router before backends that cost nearly nothing. Use as a context."""

    def __init__(self, arguments, folder, point, threads=1):
        self.arguments, self.point = arguments, point
        self.folder = os.path.join(folder, "growth")
        os.makedirs(self.folder, exist_ok=True)
        self.children = processes.Processes(self.folder)
        self.port, self.admin = processes.free_ports(2)
        self.threads = threads

    def __enter__(self):
        try:
            backend = self.children.start("backend", [self.program("dataplane-backend"), str(self.point.backends), "3600"])
            wait_for(lambda: len(processes.read(backend.log_path).split()) == self.point.backends, backend)
            ports = processes.read(backend.log_path).split()
            path = os.path.join(self.folder, "router.yaml")
            with open(path, "w") as file:
                json.dump(self.configuration(ports), file)  # JSON is YAML
            self.router = self.children.start("router", [self.program("prefix-router"), "--config", path])
            wait_for(self.is_ready, self.router)
            self.seed = 1_000_000
            if self.point.fill:
                self.fill()
            self.load(self.point.load, 0.3)  # what is allocated once is
        except BaseException:
            self.children.stop_all()
            raise
        return self

    def __exit__(self, *_):
        self.children.stop_all()

    def program(self, name):
        return os.path.join(self.arguments.bin, name)

    def configuration(self, ports):
        models = ["bench-%d" % n for n in range(self.point.models)]
        return {"listen": "127.0.0.1:%d" % self.port, "admin": "127.0.0.1:%d" % self.admin, "threads": self.threads,
                "log": {"level": "error", "access": os.path.join(self.folder, "access.log")},
                "backends": [{"url": "http://127.0.0.1:" + port, "models": models, "capacity_tokens": 10_000_000_000}
                             for port in ports], **self.point.config}

    def ask(self, path):
        with urllib.request.urlopen("http://127.0.0.1:%d%s" % (self.admin, path), timeout=10) as answer:
            return answer.read().decode()

    def metric(self, name):
        return sum(float(value) for value in re.findall(r"^prefix_router_%s(?:\{.*\})? (\S+)$" % name, self.ask("/metrics"), re.M))

    def is_ready(self):
        try:
            return self.metric("backend_healthy") == self.point.backends
        except OSError:
            return False

    def fill(self):
        while True:
            missing = self.point.fill - self.metric("prefix_map_blocks")
            if missing <= 0:
                return
            seconds = min(20.0, max(0.1, missing * BYTES_PER_ENTRY / 400e6))
            words = ["--body", "65536", "--connections", "16", "--fresh", "--first-seed", str(self.seed)]
            self.seed += self.load(words, seconds)["requests"] + 16

    def load(self, words, seconds):
        run = processes.run([self.program("dataplane-load"), "--port", str(self.port), "--seconds", "%g" % seconds] + words)
        found = json.loads(run.stdout.splitlines()[-1]) if run.stdout else {"errors": 1, "first_error": run.stderr}
        if found["errors"]:
            raise SystemExit("bench/dataplane.sh --growth: %d errors, the first: %s" % (found["errors"], found["first_error"]))
        return found

    def cost(self, seconds):
        """Microseconds of CPU per request."""
        before = processes.cpu_seconds(self.router.pid)
        found = self.load(self.point.load, seconds)
        return (processes.cpu_seconds(self.router.pid) - before) * 1e6 / found["requests"]


def wait_for(condition, child):
    end = time.monotonic() + START_SECONDS
    while not condition():
        if time.monotonic() > end or child.poll() is not None:
            raise SystemExit("bench/dataplane.sh --growth: no start:\n" + processes.log_tail(child))
        time.sleep(0.05)


def lock_share(arguments, folder):
    """Of the time of four threads, what they wait for the routing state, as load grows to what the machine gives."""
    with Fleet(arguments, folder, Point("4 threads"), threads=4) as fleet:
        before, begun = fleet.metric("routing_lock_wait_seconds_total"), time.monotonic()
        spent = processes.cpu_seconds(fleet.router.pid)
        found = fleet.load(PLAIN, arguments.run_seconds * 3)
        time.sleep(1.5)  # until it is published
        waited = fleet.metric("routing_lock_wait_seconds_total") - before
        return {"grows": "threads", "at": "4", "requests_per_second": round(found["requests"] / (time.monotonic() - begun - 1.5)),
                "lock_wait_of_thread_time": float("%.3g" % (waited / (4 * found["seconds"]))),
                "lock_wait_of_cpu_time": float("%.3g" % (waited / (processes.cpu_seconds(fleet.router.pid) - spent)))}


def measure(arguments, folder, say):
    """One row for each point, medians of the rounds; rows appear as they are found."""
    for name, points in sweeps(arguments.quick):
        for point in points:
            say("%s: %s" % (name, point.label))
            with Fleet(arguments, folder, point) as fleet:
                costs = [fleet.cost(arguments.run_seconds) for _ in range(arguments.rounds)]
            yield {"grows": name, "at": point.label, "cpu_us_per_request": float("%.3g" % statistics.median(costs)),
                   "least": float("%.3g" % min(costs)), "most": float("%.3g" % max(costs))}
    say("routing lock")
    yield lock_share(arguments, folder)


def as_table(rows):
    lines = []
    for name in dict.fromkeys(row["grows"] for row in rows):
        lines.append(name)
        lines += ["    %-10s %s" % (row["at"], ", ".join("%s %g" % (key, value) for key, value in row.items() if key not in ("grows", "at")))
                  for row in rows if row["grows"] == name]
    return "\n".join(lines)
