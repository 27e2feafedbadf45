#!/usr/bin/env python3
"""The dashboard's event streams: how many, who may, what they hold up, when they end.

usage: event_stream_test.py ROUTER_BINARY
"""
import hashlib
import http.client
import json
import os
import socket
import tempfile
import unittest

from daemon_test import PATIENCE, Backend, Router, free_port, wait_until

PATH = "/dashboard/events"
MOST = 16
TOKEN = "open sesame"


class Stream:
    """A GET of the events; `status` and then events one by one."""

    def __init__(self, port, token=None):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        self.connection.request("GET", PATH, headers={"Authorization": f"Bearer {token}"} if token else {})
        self.answer = self.connection.getresponse()
        self.status = self.answer.status

    def event(self):
        """Name and data of the next event; None at the end."""
        name = self.answer.readline().decode()
        if not name:
            return None
        data = self.answer.readline().decode()
        assert self.answer.readline() == b"\n", "one data line an event"
        return name.removeprefix("event: ").strip(), json.loads(data.removeprefix("data: "))

    def close(self):
        self.answer.close()
        self.connection.close()


def head_of(port, method, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request(method, path)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer


class EventStreams(unittest.TestCase):
    def router(self, settings="", **options):
        router = Router([Backend()], settings, **options)
        self.addCleanup(router.end)
        return router

    def stream(self, router, **options):
        stream = Stream(router.admin_port, **options)
        self.addCleanup(stream.close)
        return stream

    def test_begin_with_the_history_and_go_on_with_states(self):
        stream = self.stream(self.router())
        self.assertEqual(stream.answer.getheader("content-type"), "text/event-stream")
        name, history = stream.event()
        self.assertEqual(name, "history")
        self.assertEqual(len(history["samples"]["at"]), len(history["samples"]["requests"]))
        self.assertEqual(history["first_token_bounds"][-1], 600)
        moments = []
        for _ in range(3):
            name, state = stream.event()
            self.assertEqual(name, "state")
            moments.append(state["sample"]["at"])
        self.assertEqual(moments, sorted(set(moments)))
        self.assertEqual(len(state["backends"]), 1)

    def test_are_bounded_and_hold_up_nobody(self):
        router = self.router()
        streams = [self.stream(router) for _ in range(MOST)]
        self.assertEqual({stream.status for stream in streams}, {200})
        one_more = self.stream(router)
        self.assertEqual((one_more.status, one_more.answer.getheader("retry-after")), (503, "5"))
        self.assertIn("prefix_router_requests_total", router.admin("/metrics"))
        streams[7].close()
        wait_until(lambda: self.stream(router).status == 200)

    def test_go_on_while_one_client_does_not_read(self):
        router = self.router()
        deaf = socket.create_connection(("127.0.0.1", router.admin_port), timeout=PATIENCE)
        self.addCleanup(deaf.close)
        deaf.sendall(f"GET {PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        stream = self.stream(router)
        self.assertEqual([stream.event()[0] for _ in range(3)], ["history", "state", "state"])

    def test_ask_for_the_token_where_the_page_does_not(self):
        router = self.router(f"admin_token_sha256: '{hashlib.sha256(TOKEN.encode()).hexdigest()}'\n", are_up=False)
        self.assertEqual(self.stream(router).status, 401)
        self.assertEqual(self.stream(router, token="wrong").status, 401)
        self.assertEqual(self.stream(router, token=TOKEN).status, 200)
        for path in ("/", "/dashboard/main.js", "/dashboard/icon.svg"):
            self.assertEqual(head_of(router.admin_port, "GET", path).status, 200, path)
        self.assertEqual(head_of(router.admin_port, "GET", "/backends").status, 401)

    def test_answer_a_head_request_and_end(self):
        answer = head_of(self.router().admin_port, "HEAD", PATH)
        self.assertEqual((answer.status, answer.getheader("content-type")), (200, "text/event-stream"))

    def test_the_page_may_load_nothing_from_elsewhere(self):
        router = self.router()
        for path in ("/", "/dashboard/style.css", "/dashboard/main.js"):
            answer = head_of(router.admin_port, "GET", path)
            policy = answer.getheader("content-security-policy")
            self.assertIn("default-src 'none'", policy)
            self.assertNotIn("unsafe", policy)
            self.assertNotIn("http", policy)
            self.assertEqual(answer.getheader("x-content-type-options"), "nosniff")

    def test_end_with_the_process(self):
        router = self.router()
        stream = self.stream(router)
        stream.event()
        self.assertEqual(router.end(), 0)
        while stream.event():
            pass

    def test_end_when_a_successor_takes_over_and_begin_there(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        options = {"port": free_port(), "admin_port": free_port(),
                   "arguments": ["--take-over", os.path.join(folder.name, "point")]}
        old = self.router(**options)
        stream = self.stream(old)
        started = stream.event()[1]["started"]
        self.router(**options)
        while stream.event():
            pass
        again = Stream(old.admin_port)
        self.addCleanup(again.close)
        self.assertGreater(again.event()[1]["started"], started)


if __name__ == "__main__":
    unittest.main()
