#!/usr/bin/env python3
"""Traces: who is whose parent, what is sampled, what a span says and what it never says.

usage: tracing_test.py ROUTER_BINARY
"""
import json
import os
import re
import signal
import threading
import unittest

from daemon_test import Backend, Router, answer, free_port, wait_until

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PROMPT = "do not tell anybody that the walrus was Paul"
ANSWER = json.dumps({"choices": [{"index": 0, "message": {"role": "assistant", "content": "Sssh"}, "finish_reason": "stop"}],
                     "usage": {"prompt_tokens": 40, "completion_tokens": 3,
                               "prompt_tokens_details": {"cached_tokens": 16}}}).encode()


class Collector(Backend):
    """Takes spans, which are then in `spans`."""

    def __init__(self):
        self.spans, self.bodies, self.lock = [], [], threading.Lock()
        super().__init__(self.take)

    def take(self, connection, head, body):
        request = json.loads(body)
        with self.lock:
            self.bodies.append(body.decode())
            for resource in request["resourceSpans"]:
                self.spans += [span for scope in resource["scopeSpans"] for span in scope["spans"]]
        answer(connection, b"{}")

    def wait_for(self, count):
        wait_until(lambda: len(self.spans) >= count)
        return self.spans


def engine():
    return Backend(lambda connection, head, body: answer(connection, ANSWER, fields=b"Content-Type: application/json\r\n"))


def request(*fields, path="/v1/chat/completions?key=query-secret"):
    body = json.dumps({"model": "llama", "messages": [{"role": "user", "content": PROMPT}]})
    lines = [f"POST {path} HTTP/1.1", "Host: r", "Connection: close", f"Content-Length: {len(body)}",
             "Authorization: Bearer client-secret", *fields]
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


def field(head, name):
    found = re.search(rb"(?im)^%s: (.*)\r$" % name.encode(), head)
    return found and found[1].decode()


def attributes(span):
    values = {entry["key"]: entry["value"] for entry in span["attributes"]}
    return {key: int(value["intValue"]) if "intValue" in value else next(iter(value.values()))
            for key, value in values.items()}


class Tracing(unittest.TestCase):
    def setUp(self):
        self.collector, self.backend = Collector(), engine()

    def router(self, settings="", collector=None, backends=None):
        router = Router(backends or [self.backend], f"tracing:\n  endpoint: {collector or self.collector.url}\n{settings}")
        self.addCleanup(router.end)
        return router

    def test_the_routers_span_is_between_the_clients_and_the_backends(self):
        router = self.router()
        self.assertIn(b"200 OK", router.ask(request(f"traceparent: 00-{TRACE}-{SPAN}-01", "tracestate: vendor=x")))
        span, = self.collector.wait_for(1)
        self.assertEqual((span["traceId"], span["parentSpanId"], span["traceState"]), (TRACE, SPAN, "vendor=x"))
        self.assertNotEqual(span["spanId"], SPAN)
        head = self.backend.heads[0]
        self.assertEqual(field(head, "traceparent"), f"00-{TRACE}-{span['spanId']}-01")
        self.assertEqual(len(re.findall(rb"(?i)\r\ntraceparent:", head)), 1)
        self.assertEqual(field(head, "tracestate"), "vendor=x")
        self.assertTrue(field(head, "x-request-id"))
        self.assertLess(int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"]))

    def test_a_span_tells_the_decision_and_no_secret(self):
        self.router().ask(request())
        span, = self.collector.wait_for(1)
        self.assertEqual((span["name"], span["kind"], span["status"]), ("POST /v1/chat/completions", 2, {}))
        told = attributes(span)
        expected = {"http.request.method": "POST", "url.path": "/v1/chat/completions", "url.scheme": "http",
                    "http.response.status_code": 200, "gen_ai.operation.name": "chat", "gen_ai.request.model": "llama",
                    "gen_ai.usage.input_tokens": 40, "gen_ai.usage.output_tokens": 3,
                    "gen_ai.usage.cache_read.input_tokens": 16, "prefix_router.expected_cached_tokens": 0,
                    "prefix_router.retries": 0, "prefix_router.held_s": 0}
        self.assertEqual({key: told.get(key) for key in expected}, expected)
        self.assertRegex(told["prefix_router.backend"], "^[0-9a-f]{8}$")
        self.assertIn(told["prefix_router.reason"], ("cold", "home", "least_loaded"))
        self.assertGreater(told["prefix_router.prompt_tokens"], 0)
        for secret in ("walrus", "Sssh", "client-secret", "query-secret"):
            self.assertNotIn(secret, self.collector.bodies[0])

    def test_an_unsampled_parent_passes_as_it_came_and_leaves_no_span(self):
        router = self.router()
        parent = f"00-{TRACE}-{SPAN}-00"
        router.ask(request(f"traceparent: {parent}"))
        router.ask(request(f"traceparent: 00-{TRACE[::-1]}-{SPAN}-01"))
        span, = self.collector.wait_for(1)
        self.assertEqual(span["traceId"], TRACE[::-1])
        self.assertEqual(field(self.backend.heads[0], "traceparent"), parent)

    def test_a_malformed_parent_begins_a_trace_without_its_state(self):
        for parent in (f"00-{TRACE}-{SPAN}", "nonsense", f"00-{'0' * 32}-{SPAN}-01"):
            router = self.router()
            router.ask(request(f"traceparent: {parent}", "tracestate: vendor=x"))
            head = self.backend.heads[-1]
            span = self.collector.wait_for(1).pop()
            self.assertEqual(field(head, "traceparent"), f"00-{span['traceId']}-{span['spanId']}-01")
            self.assertIsNone(field(head, "tracestate"))
            self.assertNotIn("parentSpanId", span)

    def test_two_parents_are_none(self):
        self.router().ask(request(f"traceparent: 00-{TRACE}-{SPAN}-01", f"traceparent: 00-{TRACE}-{SPAN}-00"))
        span, = self.collector.wait_for(1)
        self.assertNotEqual(span["traceId"], TRACE)
        self.assertEqual(len(re.findall(rb"(?i)\r\ntraceparent:", self.backend.heads[0])), 1)

    def test_what_is_not_sampled_says_so_to_the_backend(self):
        router = self.router("  sample_ratio: 0\n")
        router.ask(request())
        self.assertRegex(field(self.backend.heads[0], "traceparent"), "^00-[0-9a-f]{32}-[0-9a-f]{16}-00$")
        router.ask(request(f"traceparent: 00-{TRACE}-{SPAN}-01"))
        span, = self.collector.wait_for(1)
        self.assertEqual(span["traceId"], TRACE)

    def test_failures_and_refusals_have_spans_too(self):
        router = self.router("retry:\n  budget: 0\n", backends=[Backend(lambda *_: False)])
        router.ask(request())
        router.ask(b"POST /reset_prefix_cache HTTP/1.1\r\nHost: r\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        failed, refused = self.collector.wait_for(2)
        self.assertEqual((failed["status"], attributes(failed)["http.response.status_code"]), ({"code": 2}, 502))
        self.assertEqual(attributes(failed)["error.type"], "reset_before_response")
        self.assertEqual((refused["name"], refused["status"]), ("POST", {}))
        self.assertEqual(attributes(refused)["http.response.status_code"], 403)

    def test_off_everything_passes_untouched(self):
        router = Router([self.backend])
        self.addCleanup(router.end)
        router.ask(request("traceparent: whatever it is", "tracestate: vendor=x"))
        self.assertEqual(field(self.backend.heads[0], "traceparent"), "whatever it is")
        self.assertEqual(field(self.backend.heads[0], "tracestate"), "vendor=x")

    def test_what_is_queued_is_sent_when_the_router_ends(self):
        router = self.router()
        for _ in range(5):
            router.ask(request())
        router.process.send_signal(signal.SIGTERM)
        self.assertEqual(router.end(), 0)
        self.assertEqual(len(self.collector.wait_for(5)), 5)

    def test_a_collector_that_is_gone_is_told_once_and_holds_up_nobody(self):
        router = self.router(collector=f"http://127.0.0.1:{free_port()}")
        for _ in range(3):
            self.assertIn(b"200 OK", router.ask(request()))
        wait_until(lambda: b"does not take spans" in router.text())
        self.assertIn(b"200 OK", router.ask(request()))
        self.assertEqual(router.end(), 0)
        self.assertEqual(router.text().count(b"does not take spans"), 1)

    def test_the_collectors_headers_are_a_secret(self):
        os.environ["PREFIX_ROUTER_TEST_OTLP"] = "authorization=Bearer%20collector-secret"
        self.addCleanup(os.environ.pop, "PREFIX_ROUTER_TEST_OTLP")
        router = self.router("  headers: env:PREFIX_ROUTER_TEST_OTLP\n")
        router.ask(request())
        self.collector.wait_for(1)
        self.assertEqual(field(self.collector.heads[0], "authorization"), "Bearer collector-secret")
        self.assertNotIn("collector-secret", router.admin("/config"))
        self.assertNotIn(b"collector-secret", router.text())
        wait_until(lambda: router.metric("tracing_exported_spans_total") == 1)


if __name__ == "__main__":
    unittest.main()
