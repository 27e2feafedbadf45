#!/usr/bin/env python3
"""The official OpenAI and Anthropic SDKs, unchanged, through the router to two real llama.cpp servers.

usage: sdk_test.py ROUTER_BINARY BACKEND_URL BACKEND_URL     (started by llamacpp.sh)

Needs the packages of requirements-clients.txt. Every test names what it claims; prints unittest's summary.
"""
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

import anthropic
import openai

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import exposition  # noqa: E402

ROUTER, BACKENDS = sys.argv[1], sys.argv[2:4]
API_KEY = "sk-any-key-passes-through"
WORDS = "river stone window quiet engine marble copper lantern orchard saddle velvet harbor timber ribbon".split()


def text(seed, words):
    rnd = random.Random(seed)
    return " ".join(rnd.choice(WORDS) for _ in range(words))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Router:
    """The daemon with decisions exposed, in front of both servers."""

    def __init__(self):
        self.port, self.admin_port = free_port(), free_port()
        self.url = "http://127.0.0.1:%d" % self.port
        self.file = tempfile.NamedTemporaryFile("w", suffix=".yaml", delete=False)
        self.file.write("listen: 127.0.0.1:%d\nadmin: 127.0.0.1:%d\nbackends:\n" % (self.port, self.admin_port))
        for i, url in enumerate(BACKENDS):
            self.file.write("  - url: %s\n    id: llama-%d\n" % (url, i))
        self.file.write("routing:\n  expose_decision: true\nlog:\n  access: off\n")
        self.file.close()

    def __enter__(self):
        self.process = subprocess.Popen([ROUTER, "--config", self.file.name])
        deadline = time.monotonic() + 20
        while True:
            try:
                with urllib.request.urlopen("http://127.0.0.1:%d/readyz" % self.admin_port, timeout=2) as answer:
                    if answer.status == 200:
                        return self
            except OSError:
                pass
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise SystemExit("the router did not become ready")
            time.sleep(0.05)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        os.unlink(self.file.name)

    def metric(self, name):
        with urllib.request.urlopen("http://127.0.0.1:%d/metrics" % self.admin_port, timeout=5) as answer:
            return exposition.metric(answer.read().decode(), name)


class SdkTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.router = Router().__enter__()
        cls.addClassCleanup(cls.router.__exit__)
        cls.openai = openai.OpenAI(base_url=cls.router.url + "/v1", api_key=API_KEY, max_retries=0, timeout=60)
        cls.anthropic = anthropic.Anthropic(base_url=cls.router.url, api_key=API_KEY, max_retries=0, timeout=60)

    def test_chat_answers_plain(self):
        answer = self.openai.chat.completions.create(
            model="tiny", messages=[{"role": "user", "content": "hello"}], max_tokens=8)
        self.assertEqual(answer.choices[0].message.role, "assistant")
        self.assertGreater(answer.usage.prompt_tokens, 0)

    def test_chat_streams_with_usage(self):
        chunks = list(self.openai.chat.completions.create(
            model="tiny", messages=[{"role": "user", "content": "hello stream"}], max_tokens=8, stream=True,
            stream_options={"include_usage": True}))
        self.assertGreater(len(chunks), 2)
        self.assertEqual(chunks[-1].usage.completion_tokens, 8)

    def test_completions_answer_plain_and_streamed(self):
        plain = self.openai.completions.create(model="tiny", prompt="once upon a time", max_tokens=8)
        self.assertEqual(plain.usage.completion_tokens, 8)
        pieces = list(self.openai.completions.create(model="tiny", prompt="once upon", max_tokens=8, stream=True))
        self.assertGreater(len(pieces), 2)

    def test_responses_answer_plain_and_streamed(self):
        plain = self.openai.responses.create(model="tiny", input="hello responses", max_output_tokens=8)
        self.assertGreater(plain.usage.input_tokens, 0)
        kinds = [e.type for e in self.openai.responses.create(
            model="tiny", input="hello again", max_output_tokens=8, stream=True)]
        self.assertIn("response.completed", kinds)

    def test_messages_answer_plain_and_streamed(self):
        question = dict(model="tiny", max_tokens=8, system="You are terse.",
                        messages=[{"role": "user", "content": "hello messages"}])
        plain = self.anthropic.messages.create(**question)
        self.assertEqual(plain.role, "assistant")
        with self.anthropic.messages.stream(**question) as stream:
            final = stream.get_final_message()
        self.assertGreater(final.usage.output_tokens, 0)

    def test_an_error_of_the_engine_reaches_the_client_unchanged(self):
        with self.assertRaises(openai.APIStatusError) as caught:
            self.openai.embeddings.create(model="tiny", input="no embeddings here")
        direct = openai.OpenAI(base_url=BACKENDS[0] + "/v1", api_key=API_KEY, max_retries=0)
        with self.assertRaises(openai.APIStatusError) as expected:
            direct.embeddings.create(model="tiny", input="no embeddings here")
        self.assertEqual(caught.exception.status_code, expected.exception.status_code)
        self.assertEqual(caught.exception.body, expected.exception.body)

    def test_an_unknown_path_is_answered_by_the_engine(self):
        with self.assertRaises(openai.NotFoundError) as caught:
            self.openai.get("/no/such/path", cast_to=object)
        self.assertIn("server", {k.lower(): v for k, v in caught.exception.response.headers.items()})

    def test_models_are_listed(self):
        self.assertIn("tiny", [m.id for m in self.openai.models.list()])

    def test_a_conversation_stays_on_its_server_and_its_cache_serves_it(self):
        for stream in (False, True):
            messages = [{"role": "system", "content": text("system%s" % stream, 500)}]
            backends, previous = set(), 0
            for turn in range(4):
                messages.append({"role": "user", "content": text("%s-%d" % (stream, turn), 60)})
                raw = self.openai.chat.completions.with_raw_response.create(
                    model="tiny", messages=messages, max_tokens=16, stream=stream,
                    **({"stream_options": {"include_usage": True}} if stream else {}))
                backends.add(raw.headers["x-prefix-router-decision"].split(";")[0])
                if stream:
                    chunks = list(raw.parse())
                    usage = chunks[-1].usage
                    answer = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
                else:
                    usage, answer = raw.parse().usage, raw.parse().choices[0].message.content
                messages.append({"role": "assistant", "content": answer})
                if turn:
                    self.assertGreater(usage.prompt_tokens_details.cached_tokens, 0.9 * previous,
                                       "turn %d was computed anew: %s" % (turn, raw.headers["x-prefix-router-decision"]))
                previous = usage.prompt_tokens
            self.assertEqual(len(backends), 1, "the conversation moved: %s" % backends)

    def test_two_hundred_requests_in_a_row_lose_none_to_closed_connections(self):
        for i in range(200):
            stream = i % 3 == 0
            answer = self.openai.chat.completions.create(
                model="tiny", messages=[{"role": "user", "content": "ping %d" % i}], max_tokens=2, stream=stream)
            self.assertTrue(list(answer) if stream else answer.choices)

    def test_a_client_that_leaves_is_cancelled_and_nothing_stays_in_flight(self):
        stream = self.openai.chat.completions.create(
            model="tiny", messages=[{"role": "user", "content": "leave me"}], max_tokens=400, stream=True)
        next(iter(stream))
        stream.close()
        deadline = time.monotonic() + 10
        while self.router.metric("requests_in_flight") and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(self.router.metric("requests_in_flight"), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
