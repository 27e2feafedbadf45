#!/usr/bin/env python3
"""Several tenants' conversations through one router after the other, to the same two real engines.

  conversations.py ROUTER_BINARY URL URL [--routers adaptive,least_outstanding_requests,nginx,smg] [--requests N] [--check]

Every tenant has a long system prompt of its own, more of them than one engine holds; every conversation has some turns
and sends its history with each. A router's tenants are new ones, so that nobody profits from those before it. Prints
hit ratio and mean time to first token; for our own strategies also cached tokens expected against reported after the
first requests. --check: exit 1 unless adaptive is ahead in both and expected what was reported. Standard library only.
"""
import argparse
import http.client
import itertools
import json
import os
import random
import shutil
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "bench/live"), os.path.join(ROOT, "bench/shared")]
import processes  # noqa: E402
import routers  # noqa: E402
import truth  # noqa: E402

WORDS = "river stone window quiet engine marble copper lantern orchard saddle velvet harbor timber ribbon".split()
LEARNING = 50  # requests after which the expectation must be right
NEAR = 0.05


def text(seed, words):
    chance = random.Random(seed)
    return " ".join(chance.choice(WORDS) for _ in range(words))


class Conversations:
    """The workload: users who each hold one conversation after the other, taking turns among their tenants. With
    --shared-tenants every user talks to every tenant, so that one tenant has several conversations at a time."""

    def __init__(self, name, arguments):
        self.name, self.arguments = name, arguments
        self.systems = [text("%s system %d" % (name, n), arguments.system_words) for n in range(arguments.tenants)]
        self.lock = threading.Lock()
        self.asked = 0
        self.rows = []  # (first token in s, prompt tokens, cached tokens), in order of their ends
        self.errors = 0

    def run(self, port):
        users = [threading.Thread(target=self.converse, args=(port, n)) for n in range(self.arguments.users)]
        for user in users:
            user.start()
        for user in users:
            user.join()

    def may_ask(self):
        with self.lock:
            self.asked += 1
            return self.asked <= self.arguments.requests

    def converse(self, port, user):
        think = random.Random("think %d" % user)
        own = self.systems if self.arguments.shared_tenants else self.systems[user::self.arguments.users]
        for number in itertools.count():
            messages = [{"role": "system", "content": think.choice(own)}]
            for turn in range(self.arguments.turns):
                if not self.may_ask():
                    return
                messages.append({"role": "user", "content": text("%s %d %d %d" % (self.name, user, number, turn), 40)})
                answer = self.ask(port, messages)
                if answer is None:
                    break
                messages.append({"role": "assistant", "content": answer})
                time.sleep(think.expovariate(1 / self.arguments.think))

    def ask(self, port, messages):
        body = json.dumps({"model": "tiny", "messages": messages, "max_tokens": self.arguments.answer_tokens, "stream": True,
                           "stream_options": {"include_usage": True}})
        begun, first, usage, said, is_done = time.monotonic(), None, None, "", False
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
        try:
            connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            for line in answer:
                if not line.startswith(b"data: "):
                    continue
                first = first or time.monotonic()
                if line.strip() == b"data: [DONE]":
                    is_done = True
                    continue
                event = json.loads(line[6:])
                usage = event.get("usage") or usage
                for choice in event.get("choices", []):
                    said += choice["delta"].get("content") or ""
        except (OSError, http.client.HTTPException):
            is_done = False
        finally:
            connection.close()
        with self.lock:
            if not is_done or usage is None:
                self.errors += 1
                return None
            cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
            self.rows.append((first - begun, usage["prompt_tokens"], cached))
        return said

    def result(self):
        counted = self.rows[len(self.rows) // 10:]
        return {"router": self.name, "requests": len(self.rows), "errors": self.errors,
                "prompt_tokens_mean": round(sum(row[1] for row in self.rows) / max(1, len(self.rows))),
                "token_hit_ratio": round(sum(row[2] for row in counted) / max(1, sum(row[1] for row in counted)), 4),
                "ttft_mean_s": round(sum(row[0] for row in counted) / max(1, len(counted)), 3)}


def run_router(name, arguments, engine_ports):
    with tempfile.TemporaryDirectory() as folder, processes.Processes(folder) as children:
        spare = processes.free_ports(3)
        setting = routers.Setting(folder, spare[0], engine_ports, spare[1:], 1)
        router = children.start("router", routers.command(name, setting, arguments))
        conversations = Conversations(name, arguments)
        wait_until_ready(router, conversations, setting.port)
        conversations.run(setting.port)
        result = conversations.result()
        if name in routers.OURS:
            time.sleep(0.5)  # the access log is written in batches
            result.update(expectation(truth.read_lines(setting.access_log)))
            result["capacity_tokens"] = [backend["capacity_tokens"] for backend in truth.backends(setting)]
        if arguments.keep:
            shutil.copytree(folder, os.path.join(arguments.keep, name), dirs_exist_ok=True)
        return result


def wait_until_ready(router, conversations, port):
    deadline = time.monotonic() + 60
    while conversations.ask(port, [{"role": "user", "content": "hello"}]) is None:
        if time.monotonic() > deadline or router.poll() is not None:
            raise SystemExit("%s does not answer:\n%s" % (conversations.name, processes.log_tail(router)))
        time.sleep(0.2)
    time.sleep(2)  # until it has all backends in rotation
    conversations.rows, conversations.errors = [], 0


def expectation(lines):
    """Expected over reported cached tokens, after the learning requests."""
    known = [line for line in lines if "reported_cached_tokens" in line][LEARNING:]
    expected = sum(line["expected_cached_tokens"] for line in known)
    reported = sum(line["reported_cached_tokens"] for line in known)
    return {"expected_cached_tokens": expected, "reported_cached_tokens": reported,
            "expected_over_reported": round(expected / reported, 4) if reported else None}


def check(results):
    """What does not hold, one sentence each."""
    adaptive = results["adaptive"]
    for name, result in results.items():
        if result["errors"]:
            yield "%s: %d errors" % (name, result["errors"])
        if name == "adaptive":
            continue
        if adaptive["token_hit_ratio"] <= result["token_hit_ratio"]:
            yield "adaptive's hit ratio is not above that of " + name
        if adaptive["ttft_mean_s"] >= result["ttft_mean_s"]:
            yield "adaptive's mean time to first token is not below that of " + name
    ratio = adaptive["expected_over_reported"]
    if ratio is None or abs(ratio - 1) > NEAR:
        yield "adaptive expected %s times the cached tokens that were reported" % ratio


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("engines", nargs=2, metavar="URL")
    parser.add_argument("--routers", default="adaptive,least_outstanding_requests", type=lambda text: text.split(","))
    parser.add_argument("--requests", type=int, default=160)
    parser.add_argument("--users", type=int, default=4)
    parser.add_argument("--tenants", type=int, default=8)
    parser.add_argument("--shared-tenants", action="store_true", help="several conversations of one tenant at a time")
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--system-words", type=int, default=900)
    parser.add_argument("--answer-tokens", type=int, default=4)
    parser.add_argument("--think", type=float, default=0.3)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--keep", metavar="FOLDER", help="keep logs and access log here")
    arguments = parser.parse_args()
    arguments.bin, arguments.tools, arguments.router_cmd = os.path.dirname(arguments.program), os.path.join(ROOT, "build/live"), {}
    return arguments


def main():
    arguments = parse()
    ports = [int(url.rsplit(":", 1)[1]) for url in arguments.engines]
    results = {}
    for name in arguments.routers:
        results[name] = run_router(name, arguments, ports)
        print(json.dumps(results[name]), flush=True)
    problems = list(check(results)) if arguments.check else []
    for problem in problems:
        print("FAIL " + problem, flush=True)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
