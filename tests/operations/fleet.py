"""A daemon before two simulated engines, on free ports, that has served requests."""
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from loopback import free_port  # noqa: E402

PATIENCE = 60
PROMPT = "Tell me about the sky. " * 40


def get(url):
    with urllib.request.urlopen(url, timeout=PATIENCE) as reply:
        return reply.read().decode()


class Fleet:
    """Each of the engines is a process of its own, in `engines`. `settings`: YAML for the router's configuration."""

    def __init__(self, router, engine_sim, settings=""):
        self.port, self.admin_port = free_port(), free_port()
        engine_ports = [free_port(), free_port()]
        self.log = tempfile.TemporaryFile("w+")
        self.children = []
        self.pause = threading.Event()
        self.engines = [self.start(engine_sim, "--port", str(port)) for port in engine_ports]
        self.configuration = tempfile.NamedTemporaryFile("w", suffix=".yaml")
        self.configuration.write(f"listen: 127.0.0.1:{self.port}\nadmin: 127.0.0.1:{self.admin_port}\nbackends:\n")
        self.configuration.write("".join(f"  - url: http://127.0.0.1:{port}\n" for port in engine_ports) + settings)
        self.configuration.flush()
        self.start(router, "--config", self.configuration.name)
        waited = subprocess.run(["curl", "-sf", "--retry", str(PATIENCE), "--retry-delay", "1", "--retry-all-errors",
                                 f"http://127.0.0.1:{self.admin_port}/readyz"], capture_output=True, check=False)
        if waited.returncode != 0:
            self.end()
            raise RuntimeError("the router did not become ready:\n" + self.output())

    def start(self, *command):
        self.children.append(subprocess.Popen([os.fspath(word) for word in command], stdin=subprocess.DEVNULL,
                                              stdout=self.log, stderr=self.log))
        return self.children[-1]

    def admin(self, path):
        return get(f"http://127.0.0.1:{self.admin_port}{path}")

    def ask(self, question):
        body = {"model": "sim", "max_tokens": 4, "messages": [{"role": "user", "content": PROMPT + question}]}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/v1/chat/completions", json.dumps(body).encode(),
                                         {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
            return json.load(reply)

    def counted(self, requests):
        """The exposition once so many answers are counted: that comes after a client has its answer."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            text = self.admin("/metrics")
            if f'prefix_router_requests_total{{status="2xx"}} {requests}\n' in text:
                return text
            self.pause.wait(0.05)
        raise RuntimeError(f"{requests} answers were not counted:\n{text}")

    def output(self):
        self.log.seek(0)
        return self.log.read()

    def end(self):
        for child in self.children:
            child.terminate()
        for child in self.children:
            child.wait(PATIENCE)
        self.configuration.close()
