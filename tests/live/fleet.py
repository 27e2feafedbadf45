"""Simulated engines and the daemon before them, all at a multiple of real time, for tests that watch it learn."""
import http.client
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from loopback import free_port, wait_until  # noqa: E402

CHARACTERS_A_TOKEN = 4


def words(seed, tokens):
    """So many tokens of text, a function of the seed alone."""
    chance = random.Random(seed)
    letters = "".join(chance.choice("abcdefghijklmnopqrstuvwxyz ") for _ in range(64))
    text, size = [], tokens * CHARACTERS_A_TOKEN
    for number in range(size // len(letters) + 1):
        text.append("%06x%s" % (chance.getrandbits(24), letters[6:]) if number % 4 == 0 else letters)
    return "".join(text)[:size]


def fetch(url, data=None):
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read().decode()


class Engine:
    """One engine-sim process with one engine, on a port that it keeps over a restart."""

    def __init__(self, program, *options):
        self.program, self.options, self.port = program, options, free_port()
        self.url = "http://127.0.0.1:%d" % self.port
        self.start()

    def start(self):
        self.process = subprocess.Popen([self.program, "--port", str(self.port), *self.options], stdout=subprocess.DEVNULL)
        wait_until(self.is_up, "engine-sim", process=self.process)

    def is_up(self):
        fetch(self.url + "/health")
        return True

    def restart(self):
        self.stop()
        self.start()

    def change(self, **settings):
        fetch(self.url + "/engine_sim/settings", json.dumps(settings).encode())

    def stop(self):
        self.process.kill()
        self.process.wait()


class Answer:
    def __init__(self, status, backend, reason, expected, usage, seconds):
        self.status, self.backend, self.reason, self.expected = status, backend, reason, expected
        self.prompt = usage.get("prompt_tokens", 0)
        self.cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
        self.seconds = seconds  # to the first token, in engine time


class Router:
    """The daemon with its decisions exposed."""

    def __init__(self, program, engines, speed_up, spec="", more=""):
        self.port, self.admin_port, self.speed_up = free_port(), free_port(), speed_up
        text = "listen: 127.0.0.1:%d\nadmin: 127.0.0.1:%d\nbackends:\n" % (self.port, self.admin_port)
        for number, engine in enumerate(engines):
            text += "  - url: %s\n    id: engine-%d\n" % (engine.url, number) + ("    %s\n" % spec if spec else "")
        text += "routing:\n  expose_decision: true\nlog:\n  access: off\n" + more
        with tempfile.NamedTemporaryFile("w", suffix=".yaml", delete=False) as file:
            file.write(text)
        self.path = file.name
        self.process = subprocess.Popen([program, "--config", self.path, "--bench-speed-up", str(speed_up)],
                                        stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        wait_until(self.is_ready, "prefix-router", process=self.process)

    def is_ready(self):
        return all(backend["health"] == "healthy" and backend["reported"]["running"] is not None
                   for backend in self.backends().values())

    def backends(self):
        state = json.loads(fetch("http://127.0.0.1:%d/backends" % self.admin_port))
        return {backend["id"]: backend for backend in state["backends"]}

    def stop(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        os.unlink(self.path)

    def ask(self, prompt, tokens=1):
        return ask("127.0.0.1", self.port, prompt, tokens, self.speed_up)


def ask(host, port, prompt, tokens, speed_up):
    """One streamed chat request; `prompt` is a text or a list of messages."""
    messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
    body = json.dumps({"model": "sim", "messages": messages, "max_tokens": tokens, "stream": True,
                       "stream_options": {"include_usage": True}})
    connection = http.client.HTTPConnection(host, port, timeout=60)
    begun, first, usage = time.monotonic(), None, {}
    connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    for line in answer:
        if line.startswith(b"data: {"):
            first = first or time.monotonic()
            usage = json.loads(line[6:]).get("usage") or usage
    connection.close()
    decision = next((value for name, value in answer.getheaders() if "expected_cached_tokens=" in value), "")
    facts = dict(re.findall(r"(\w+)=([^;]+)", decision))
    return Answer(answer.status, facts.get("backend"), facts.get("reason"), int(facts.get("expected_cached_tokens", 0)),
                  usage, ((first or begun) - begun) * speed_up)


def ask_all(calls, at_once):
    """Runs the calls, so many at a time; their results in order."""
    results, pending, lock = [None] * len(calls), list(range(len(calls)))[::-1], threading.Lock()

    def work():
        while True:
            with lock:
                if not pending:
                    return
                number = pending.pop()
            results[number] = calls[number]()

    threads = [threading.Thread(target=work) for _ in range(at_once)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
