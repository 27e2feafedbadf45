#!/usr/bin/env python3
"""What the admin listener changes in a running daemon, who may do so, and what /explain tells.

usage: admin_test.py ROUTER_BINARY
"""
import hashlib
import json
import os
import signal
import socket
import unittest
import urllib.request

from daemon_test import PATIENCE, Backend, read_to_end, read_until, wait_until
from reload_test import Reloadable, entries, running_stream


def chat(text):
    return json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]}).encode()


class Changes(unittest.TestCase):
    def setUp(self):
        self.a, self.b = Backend(), Backend()
        self.router = Reloadable(entries(("a", self.a)), 1)
        self.addCleanup(self.router.end)

    def change(self, method, path, body=None, status=200, fields=None):
        got, told = self.router.post(path, b"" if body is None else json.dumps(body).encode(), fields, method)
        self.assertEqual(got, status, told)
        return told

    def state(self, backend):
        return next(each for each in json.loads(self.router.admin("/backends"))["backends"] if each["id"] == backend)

    def requests_seen_by(self, backend, asked=10):
        before = len(backend.heads)
        for _ in range(asked):
            self.assertIn(b"200 OK", self.router.ask())
        return len(backend.heads) - before

    def test_a_backend_is_added_and_removed(self):
        told = self.change("POST", "/backends", {"id": "b", "url": self.b.url, "weight": 2}, 201)
        self.assertEqual((told["source"], told["weight"]), ("admin", 2))
        self.router.says(b"admin: local added backend b")
        wait_until(lambda: self.router.metric("backend_healthy") == 2)
        self.assertEqual(self.state("b")["source"], "admin")
        self.assertIn("id: b", self.router.admin("/config"))
        wait_until(lambda: self.requests_seen_by(self.b) > 0)
        self.assertEqual(self.router.reload(entries(("a", self.a)))[0], 200)
        self.assertEqual(self.router.ids(), ["a", "b"], "a reload leaves what was added here")
        self.change("DELETE", "/backends/b")
        wait_until(lambda: self.router.ids() == ["a"])
        self.router.says(b"admin: local removed backend b")

    def test_the_configuration_takes_over_what_was_added(self):
        self.change("POST", "/backends", {"id": "b", "url": self.b.url}, 201)
        told = self.router.reload(entries(("a", self.a), ("b", self.b)))[1]
        self.assertEqual(told["backends"], {"added": [], "removed": [], "changed": []})
        self.assertEqual(self.state("b")["source"], "configuration")

    def test_what_cannot_be_is_refused(self):
        self.change("POST", "/backends", {"id": "a", "url": self.b.url}, 409)
        self.change("POST", "/backends", {"id": "b"}, 400)
        self.change("POST", "/backends", {"url": self.b.url, "authorization": "file:/etc/hostname"}, 400)
        self.change("DELETE", "/backends/a", status=409)
        self.change("DELETE", "/backends/x", status=404)
        self.change("PATCH", "/backends/x", {"weight": 2}, 404)
        self.change("PATCH", "/backends/a", {"weight": 0}, 400)
        self.change("PATCH", "/backends/a", {"url": self.b.url}, 400)
        self.change("PATCH", "/backends/a", [], 400)
        self.change("PUT", "/log-level", {"level": "loud"}, 400)
        self.change("PUT", "/backends/a/drain", status=405)
        self.assertEqual(self.router.ids(), ["a"])

    def test_a_backend_is_drained_and_taken_back(self):
        self.change("POST", "/backends", {"id": "b", "url": self.b.url}, 201)
        wait_until(lambda: self.router.metric("backend_healthy") == 2)
        self.assertTrue(self.change("POST", "/backends/a/drain")["draining"])
        self.assertEqual(self.requests_seen_by(self.a), 0)
        self.assertTrue(self.state("a")["draining"])
        self.assertEqual(self.router.reload(entries(("a", self.a)))[0], 200)
        self.assertEqual(self.requests_seen_by(self.a), 0, "a reload takes nobody back")
        self.change("POST", "/backends/a/undrain")
        self.change("POST", "/backends/b/drain")
        self.assertEqual(self.requests_seen_by(self.a), 10)

    def test_fields_are_set_until_the_file_says_something_else(self):
        told = self.change("PATCH", "/backends/a", {"capacity_tokens": 5000, "weight": 3, "models": ["m", "n"]})
        self.assertEqual(told["set_here"], ["weight", "capacity_tokens", "models"])
        self.assertEqual((self.state("a")["capacity_tokens"], self.state("a")["models"]), (5000, ["m", "n"]))
        self.assertIn("capacity_tokens: 5000", self.router.admin("/config"))
        self.assertEqual(self.router.reload(entries(("a", self.a)))[1]["backends"]["changed"], [])
        self.assertEqual(self.state("a")["capacity_tokens"], 5000)
        text = "backends:\n  - {id: a, url: '%s', capacity_tokens: 7000}\n" % self.a.url
        self.assertEqual(self.router.reload(text)[1]["backends"]["changed"], ["a"])
        self.assertEqual(self.state("a")["capacity_tokens"], 7000)
        self.change("PATCH", "/backends/a", {"capacity_tokens": "auto"})
        self.assertEqual(self.state("a")["capacity_tokens"], 1000000)

    def test_the_log_level_is_set_until_the_file_says_another(self):
        self.change("PUT", "/log-level", {"level": "warn"})
        self.assertIn("level: warn", self.router.admin("/config"))
        self.assertEqual(self.router.reload(entries(("a", self.a)))[0], 200)
        self.assertIn("level: warn", self.router.admin("/config"))
        self.assertEqual(self.router.reload(entries(("a", self.a)) + "log: {level: debug}\n")[0], 200)
        self.assertIn("level: debug", self.router.admin("/config"))

    def test_the_router_is_drained(self):
        self.assertEqual(self.change("POST", "/drain", status=202), {"draining": True})
        self.assertEqual(self.router.process.wait(PATIENCE), 0)
        self.router.says(b"admin: local drains the router")

    def test_a_drain_that_is_asked_for_again_and_a_stop_after_it_cut_nothing(self):
        with running_stream(self.router, self.a) as (client, finish):
            for _ in range(2):
                self.change("POST", "/drain", status=202)
            self.router.says(b"draining: not ready")
            self.router.process.send_signal(signal.SIGTERM)
            self.router.says(b"drains already")
            self.change("POST", "/drain", status=202)
            finish.set()
            self.assertTrue(read_until(client, b"", b"0\r\n\r\n"))
        self.assertEqual(self.router.process.wait(PATIENCE), 0)

    def test_web_pages_may_change_nothing(self):
        told = self.change("POST", "/drain", status=403, fields={"Origin": "http://elsewhere"})
        self.assertIn("web pages", told["error"]["message"])
        self.assertIsNone(self.router.process.poll())

    def test_a_name_that_a_page_could_have_is_not_the_listeners(self):
        named = {"Host": "rebound.example:%d" % self.router.admin_port}
        for path in ("/config", "/backends", "/decisions", "/", "/dashboard/events", "/nothing"):
            status, told = self.router.post(path, None, named, "GET")
            self.assertEqual(status, 421, path)
            self.assertIn("use an IP address or localhost", told["error"]["message"])
        self.change("POST", "/drain", status=421, fields=named)
        for path in ("/healthz", "/readyz", "/metrics"):
            request = urllib.request.Request("http://127.0.0.1:%d%s" % (self.router.admin_port, path), headers=named)
            with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
                self.assertEqual(reply.status, 200, path)


class Hashes(unittest.TestCase):
    def test_are_not_shown(self):
        hashes = [hashlib.sha256(word).hexdigest() for word in (b"token", b"operator", b"key")]
        router = Reloadable(entries(("a", Backend())), None, """admin_token_sha256: '%s'
admin_tokens:
  - {name: ada, sha256: '%s'}
api_keys:
  - {name: alpha, sha256: '%s'}
""" % tuple(hashes))
        self.addCleanup(router.end)
        request = urllib.request.Request("http://127.0.0.1:%d/config" % router.admin_port,
                                         headers={"Authorization": "bearer token"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
            shown = reply.read().decode()
        self.assertEqual(shown.count("(hidden)"), 3)
        self.assertIn("name: alpha", shown)
        for hashed in hashes:
            self.assertNotIn(hashed, shown)


class Token(unittest.TestCase):
    def test_is_asked_for_and_named_in_the_log(self):
        backend = Backend()
        hashed = hashlib.sha256(b"secret").hexdigest()
        router = Reloadable(entries(("a", backend)), None, "admin_token_sha256: '%s'\n" % hashed)
        self.addCleanup(router.end)
        shown = {"Authorization": "Bearer secret"}
        own, foreign = ({"Origin": "http://" + host} for host in ("127.0.0.1:%d" % router.admin_port, "elsewhere"))
        self.assertEqual(router.post("/backends/a/drain")[0], 401)
        self.assertEqual(router.post("/backends/a/drain", fields=shown | foreign)[0], 403)
        self.assertEqual(router.post("/backends/a/drain", fields=shown | own)[0], 200)
        router.says(b"admin: admin drains backend a")

    def test_of_each_operator_is_named_in_the_log(self):
        named = "".join("  - {name: %s, sha256: '%s'}\n" % (name, hashlib.sha256(name.encode()).hexdigest())
                        for name in ("ada", "grace"))
        router = Reloadable(entries(("a", Backend())), None, "admin_tokens:\n" + named)
        self.addCleanup(router.end)
        self.assertEqual(router.post("/backends/a/drain", fields={"Authorization": "Bearer eve"})[0], 401)
        for name, word in (("ada", "drain"), ("grace", "undrain")):
            self.assertEqual(router.post("/backends/a/" + word, fields={"Authorization": "Bearer " + name})[0], 200)
        router.says(b"admin: ada drains backend a")
        router.says(b"admin: grace takes back backend a")


class Bounds(unittest.TestCase):
    BODY, BODIES, CONNECTIONS = 8 << 20, 8, 256

    def router(self, more=""):
        router = Reloadable(entries(("a", Backend())), None, more)
        self.addCleanup(router.end)
        return router

    def client(self, router, sent=b""):
        client = socket.create_connection(("127.0.0.1", router.admin_port), timeout=PATIENCE)
        self.addCleanup(client.close)
        client.sendall(sent)
        return client

    def head(self, size, path=b"/explain"):
        return b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % (path, size)

    def test_a_body_that_is_too_large_is_refused_readably(self):
        router = self.router()
        told = read_to_end(self.client(router, self.head(self.BODY + 1) + b"x" * (1 << 20)))
        self.assertIn(b" 413 ", told)
        self.assertIn(b"larger than 8388608 bytes", told)
        chunks = b"POST /explain HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        self.assertIn(b" 413 ", read_to_end(self.client(router, chunks + b"900000\r\n" + b"x" * 0x900000)))
        self.assertEqual(router.post("/explain", b"x" * self.BODY)[0], 200)

    def test_what_is_no_request_is_told_so(self):
        router = self.router()
        for nonsense in (b"\0" * 100 + b"\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\r\n\r\n"):
            self.assertIn(b" 400 ", read_to_end(self.client(router, nonsense)))

    def test_without_the_token_no_body_is_waited_for(self):
        router = self.router("admin_token_sha256: '%s'\n" % hashlib.sha256(b"secret").hexdigest())
        told = read_to_end(self.client(router, self.head(self.BODY)))
        self.assertIn(b" 401 ", told)

    def test_only_so_many_bodies_are_read_at_a_time(self):
        router = self.router()
        slow = [self.client(router, self.head(self.BODY) + b"x" * 1000) for _ in range(self.BODIES)]
        wait_until(lambda: router.post("/explain", chat("x"))[0] == 503)
        self.assertIn("prefix_router_requests_total", router.admin("/metrics"))
        for client in slow:
            client.close()
        wait_until(lambda: router.post("/explain", chat("x"))[0] == 200)

    def test_of_too_many_connections_the_oldest_are_closed_and_a_probe_is_answered(self):
        router = self.router()
        crowd = [self.client(router) for _ in range(self.CONNECTIONS + 100)]
        self.assertIn("alive", router.admin("/healthz"), "it is accepted after all of them")
        self.assertLess(len(os.listdir("/proc/%d/fd" % router.process.pid)), self.CONNECTIONS + 50)
        self.assertEqual(read_to_end(crowd[0]), b"")

    def test_a_change_may_be_nested_as_deeply_as_it_likes(self):
        router = self.router()
        depth = 2_000_000
        for method, path in (("PATCH", "/backends/a"), ("POST", "/backends"), ("PUT", "/log-level")):
            body = b'{"models": %s%s}' % (b"[" * depth, b"]" * depth)
            self.assertEqual(router.post(path, body, method=method)[0], 400, path)
        self.assertEqual(router.ids(), ["a"])


class LocalName(unittest.TestCase):
    def test_is_an_address_of_the_admin_listener(self):
        backend = Backend()
        router = Reloadable(entries(("a", backend)), 1, admin_host="localhost")
        self.addCleanup(router.end)
        self.assertEqual(router.ids(), ["a"])


class Explained(unittest.TestCase):
    PATH = "/explain?path=/v1/chat/completions"

    def setUp(self):
        self.a, self.b = Backend(), Backend()
        # Probes and scrapes come once: between two looks nothing but requests changes what is shown.
        self.quiet = "health: {interval: 1h, timeout: 1m, scrape_interval: 0}\nrouting: {expose_decision: true, strategy: %s}\n"

    def launch(self, strategy):
        router = Reloadable(entries(("a", self.a), ("b", self.b)) + self.quiet % strategy, 2)
        self.addCleanup(router.end)
        return router

    def decide(self, router, body):
        request = urllib.request.Request("http://127.0.0.1:%d/v1/chat/completions" % router.port, body)
        with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
            reply.read()
            return reply.headers["X-Prefix-Router-Decision"]

    def explain(self, router, body, query=""):
        status, told = router.post(self.PATH + query, body)
        self.assertEqual(status, 200, told)
        return told

    def shown(self, router):
        """What the router shows of itself that depends on no clock."""
        state = json.loads(router.admin("/backends"))
        for backend in state["backends"]:
            for field in ("backlog_s", "prefill_utilization"):
                del backend[field]
        series = [line for line in router.admin("/metrics").splitlines() if "decision" in line or "requests" in line]
        return state, series, len(json.loads(router.admin("/decisions"))["decisions"])

    def test_is_what_then_happens_and_leaves_no_trace(self):
        for strategy in ("adaptive", "prefix_aware", "least_outstanding_requests", "round_robin", "random"):
            with self.subTest(strategy):
                router = self.launch(strategy)
                for i in range(6):
                    body = chat("%d: %s" % (i % 3, "Tell me about the sky. " * 400))
                    wait_until(lambda: router.metric("requests_in_flight") == 0)
                    seen = len(self.a.heads) + len(self.b.heads)
                    before = self.shown(router)
                    told = [self.explain(router, body) for _ in range(3)][-1]
                    self.assertEqual(self.shown(router), before)
                    self.assertEqual(len(self.a.heads) + len(self.b.heads), seen)
                    happened = dict(part.split("=") for part in self.decide(router, body).split("; "))
                    self.assertEqual((told["action"], told["backend"], told["reason"]),
                                     ("send", happened["backend"], happened["reason"]))
                    self.assertEqual(told["expected_cached_tokens"], int(happened["expected_cached_tokens"]))
                self.assertEqual(told["strategy"], strategy)
                self.assertEqual(sorted(candidate["backend"] for candidate in told["candidates"]), ["a", "b"])

    def test_tells_how_the_body_was_read(self):
        router = self.launch("adaptive")
        told = self.explain(router, json.dumps({"model": "m", "stream": True, "n": 2, "messages": [
            {"role": "user", "content": "x" * 2000}]}).encode(), "&priority=high")
        self.assertEqual((told["dialect"], told["model"], told["model_is_known"]), ("openai_chat", "m", False))
        self.assertEqual((told["sequences"], told["streams"], told["priority"]), (2, True, "high"))
        self.assertGreater(told["prompt_units"], 2000)
        self.assertEqual(len(told["candidates"]), 2)
        self.assertEqual(self.explain(router, b"\xff no JSON")["key_blocks"], 0)

    def test_refuses_what_it_does_not_know(self):
        router = self.launch("adaptive")
        for query, status in (("&priority=urgent", 400), ("&api_key=nobody", 400)):
            self.assertEqual(router.post(self.PATH + query, chat("x"))[0], status)
        self.assertEqual(router.post("/explain?path=/reset_prefix_cache")[0], 403)

    def test_tells_of_a_fleet_that_drains(self):
        router = self.launch("adaptive")
        for backend in ("a", "b"):
            router.post("/backends/%s/drain" % backend)
        told = self.explain(router, chat("x"))
        self.assertEqual((told["action"], told["refusal"], told["candidates"]), ("refuse", "no_backend", []))


if __name__ == "__main__":
    unittest.main()
