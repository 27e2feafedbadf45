#!/usr/bin/env python3
"""A soak fails for each thing that it looks for: else half an hour of it would prove nothing.

usage: verdict_test.py     (no router: bench.soak's own judgement)
"""
import contextlib
import io
import os
import random
import sys
import types
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
from bench.soak import __main__ as soak  # noqa: E402
from bench.soak import clients, payload  # noqa: E402

LEVELS = {**dict.fromkeys((*soak.LEVELS, "backend_in_flight"), 0.0), "backend_healthy": soak.BACKENDS}


def judge(wrong=(), lost=(), levels=(), leaked=0, is_flat=True, requests=1000, code=0, crossed=0, unasked=0):
    memory = types.SimpleNamespace(samples=[1 << 20] * 10, growth=lambda: 0.0)
    report = {"counts": {"requests": requests, "failed_by_crossed": crossed}, "wrong": list(wrong), "lost": list(lost)}
    router = types.SimpleNamespace(tail=lambda: "")
    with contextlib.redirect_stdout(io.StringIO()) as said:
        result = soak.conclude(report, {**LEVELS, **dict(levels)}, leaked, is_flat, memory,
                               {"late_surplus": unasked}, 1, 60, code, router)
    return result, said.getvalue().splitlines()[-1]


def answer(request):
    """What a backend of the soak answers: head and body."""
    told = payload.usage(5, 0, request.size)
    if request.kind == "stream":
        body = b"".join(payload.chat_events(request.tag, request.size, told))
    elif request.kind == "chat":
        body = payload.chat_answer(request.tag, request.size, told)
    elif request.kind == "head":
        body = b""
    else:
        body = payload.noise(request.tag, len(request.body) if request.kind == "upload" else request.size)
    return {"x-soak-tag": request.tag, "content-length": str(request.size)}, body


def one_of_each():
    dice, found = random.Random(3), {}
    while len(found) < 6:
        request = clients.make(dice)
        if request.kind == "head" or request.size or request.body:
            found.setdefault(request.kind, request)
    return found.values()


class Verdict(unittest.TestCase):
    def test_is_good_when_nothing_was_found(self):
        result, last = judge()
        self.assertEqual(result, 0, last)
        self.assertIn("soak: good: 1000 requests", last)
        self.assertEqual(judge(crossed=5, unasked=100)[0], 0)

    def test_is_bad_for_each_finding(self):
        findings = [{"wrong": ["x"]}, {"lost": ["x"]}, {"leaked": 1}, {"is_flat": False}, {"requests": 0}, {"code": 1},
                    {"code": -11}, {"levels": {"backend_healthy": soak.BACKENDS - 1}}]
        findings.append({"crossed": 60, "unasked": 100})
        findings += [{"levels": {name: 1}} for name in (*soak.LEVELS, "backend_in_flight")]
        for finding in findings:
            result, last = judge(**finding)
            self.assertEqual(result, 1, finding)
            self.assertIn("soak: BAD", last)

    def test_is_bad_without_a_report(self):
        with contextlib.redirect_stdout(io.StringIO()):
            memory = types.SimpleNamespace(samples=[1], growth=lambda: 0.0)
            self.assertEqual(soak.conclude({}, LEVELS, 0, True, memory, {}, 1, 60, 0,
                                           types.SimpleNamespace(tail=lambda: "")), 1)


class Check(unittest.TestCase):
    def test_takes_the_right_answer(self):
        for request in one_of_each():
            request.check(*answer(request))

    def test_finds_every_changed_byte(self):
        for request in one_of_each():
            head, body = answer(request)
            for at in {0, len(body) // 2, len(body) - 1} if body else ():
                changed = bytearray(body)
                changed[at] ^= 1
                with self.assertRaises((clients.Wrong, ValueError, KeyError, IndexError), msg=request.kind):
                    request.check(head, bytes(changed))

    def test_finds_missing_and_surplus_bytes(self):
        for request in one_of_each():
            head, body = answer(request)
            for changed in ([body + b"x"] if body else [b"x"]) + ([body[:-1]] if body else []):
                with self.assertRaises((clients.Wrong, ValueError, KeyError, IndexError), msg=request.kind):
                    request.check(head, changed)

    def test_finds_another_requests_answer(self):
        for request in one_of_each():
            other = clients.Request(request.method, request.path, request.body, size=request.size, kind=request.kind)
            head, body = answer(other)
            with self.assertRaises(clients.Wrong, msg=request.kind):
                request.check(head, body)
            with self.assertRaises(clients.Unasked):
                request.check({"content-length": "5"}, b"wrong")
            if body:
                with self.assertRaises(clients.Wrong, msg=request.kind):
                    request.check({**head, "x-soak-tag": request.tag}, body)


if __name__ == "__main__":
    unittest.main(verbosity=1)
