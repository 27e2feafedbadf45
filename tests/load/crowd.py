#!/usr/bin/env python3
"""A crowd: 5,000 idle connections, 1,000 concurrent streams and 64 MiB bodies through one router, then a drain.

usage: crowd.py ROUTER_BINARY ENGINE_SIM_BINARY [--streams N] [--idle N] [--bodies N]

Checks that every stream is whole, every body is answered, nothing stays in flight or open, and that the router exits
with 0 after SIGTERM (a leak found by AddressSanitizer makes that 1). Prints the router's memory after each step.
"""
import argparse
import asyncio
import json
import os
import resource
import signal
import subprocess
import sys
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import exposition  # noqa: E402
import loopback  # noqa: E402

BODY = 64 << 20
EVENTS = 40


def rss_mib(pid):
    with open("/proc/%d/status" % pid) as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) // 1024


class Crowd:
    def __init__(self, options):
        self.options = options
        self.port, self.admin, *engines = loopback.free_ports(4)
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
        self.engine = subprocess.Popen(
            [options.engine_sim, "--host", "127.0.0.1", "--port", ",".join(map(str, engines)), "--slots", "2000",
             "--prefill-rate", "1e9", "--overhead", "0", "--decode-rate", "20", "--kv-tokens", "200000000"])
        self.router = subprocess.Popen(
            [options.router, "--listen", "127.0.0.1:%d" % self.port, "--admin", "127.0.0.1:%d" % self.admin,
             "--access-log", "off"] + [w for p in engines for w in ("--backend", "http://127.0.0.1:%d" % p)])
        self.idle = []

    def get(self, path):
        with urllib.request.urlopen("http://127.0.0.1:%d%s" % (self.admin, path), timeout=10) as answer:
            return answer.read().decode()

    def metric(self, name):
        return exposition.metric(self.get("/metrics"), name)

    def wait_until(self, what, holds):
        loopback.wait_until(holds, what, process=self.router)

    def say(self, step):
        print("%-44s router RSS %5d MiB" % (step, rss_mib(self.router.pid)), flush=True)

    async def open_idle(self):
        for _ in range(self.options.idle):
            self.idle.append(await asyncio.open_connection("127.0.0.1", self.port))

    async def stream(self, number, started):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        body = json.dumps({"model": "sim", "stream": True, "max_tokens": EVENTS,
                           "messages": [{"role": "user", "content": "stream %d" % number}]}).encode()
        writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                     b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        head = await reader.readuntil(b"\r\n\r\n")
        started.append(number)
        rest = await reader.read()
        writer.close()
        if b" 200 " not in head.split(b"\r\n")[0] or b"data: [DONE]" not in rest or not rest.endswith(b"0\r\n\r\n"):
            raise SystemExit("FAIL: stream %d was not whole: %r ... %r" % (number, head[:80], rest[-80:]))

    async def streams(self):
        started = []
        tasks = [asyncio.create_task(self.stream(i, started)) for i in range(self.options.streams)]
        while len(started) < self.options.streams and not all(t.done() for t in tasks):
            await asyncio.sleep(0.05)
        self.say("%d streams begun" % len(started))
        await asyncio.gather(*tasks)

    async def big_body(self, number):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 20)
        head = b'{"model":"sim","max_tokens":1,"messages":[{"role":"user","content":"%d ' % number
        tail = b'"}]}'
        body = head + b"x" * (BODY - len(head) - len(tail)) + tail
        writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                     b"Content-Length: %d\r\n\r\n" % len(body))
        writer.write(body)
        await writer.drain()
        answer = await reader.read()
        writer.close()
        if b" 200 " not in answer.split(b"\r\n")[0]:
            raise SystemExit("FAIL: body %d was answered %r" % (number, answer[:200]))

    async def bodies(self):
        for first in range(0, self.options.bodies, 4):
            await asyncio.gather(*[self.big_body(i) for i in range(first, min(first + 4, self.options.bodies))])

    def run(self):
        try:
            self.wait_until("the router became ready", lambda: "true" in self.get("/readyz"))
            self.say("ready")
            asyncio.run(self.steps())
            return self.finish()
        finally:
            self.engine.kill()
            if self.router.poll() is None:
                self.router.kill()

    async def steps(self):
        await self.open_idle()
        self.wait_until("the idle connections were accepted",
                        lambda: self.metric("connections") >= self.options.idle)
        self.say("%d idle connections" % self.options.idle)
        await self.streams()
        self.say("all streams whole")
        await self.bodies()
        self.say("%d bodies of 64 MiB" % self.options.bodies)
        for _, writer in self.idle:
            writer.close()

    def finish(self):
        self.wait_until("nothing was left in flight", lambda: self.metric("requests_in_flight") == 0)
        self.wait_until("no connection was left open", lambda: self.metric("connections") == 0)
        self.say("all gone")
        self.router.send_signal(signal.SIGTERM)
        code = self.router.wait(60)
        if code != 0:
            raise SystemExit("FAIL: the router exited with %d" % code)
        print("PASS")
        return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("router")
    parser.add_argument("engine_sim")
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--idle", type=int, default=5000)
    parser.add_argument("--bodies", type=int, default=8)
    sys.exit(Crowd(parser.parse_args()).run())
