#!/usr/bin/env python3
"""The official OpenAI and Anthropic SDKs, unchanged, through the router to two real llama.cpp servers.

usage: sdk_test.py ROUTER_BINARY BACKEND_URL BACKEND_URL     (started by llamacpp.sh)

Needs the packages of requirements-clients.txt. Every test names what it claims; prints unittest's summary.
"""
import hashlib
import os
import random
import ssl
import subprocess
import sys
import tempfile
import unittest
import urllib.request

import anthropic
import openai

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import exposition  # noqa: E402
from loopback import free_port, wait_until  # noqa: E402

ROUTER, BACKENDS = sys.argv[1], sys.argv[2:4]
API_KEY = "sk-any-key-passes-through"
WORDS = "river stone window quiet engine marble copper lantern orchard saddle velvet harbor timber ribbon".split()


def text(seed, words):
    rnd = random.Random(seed)
    return " ".join(rnd.choice(WORDS) for _ in range(words))


class Router:
    """The daemon with decisions exposed, in front of both servers."""

    def __init__(self, settings="", scheme="http"):
        self.port, self.admin_port = free_port(), free_port()
        self.url = "%s://127.0.0.1:%d" % (scheme, self.port)
        self.file = tempfile.NamedTemporaryFile("w", suffix=".yaml", delete=False)
        self.file.write("listen: 127.0.0.1:%d\nadmin: 127.0.0.1:%d\nbackends:\n" % (self.port, self.admin_port))
        for i, url in enumerate(BACKENDS):
            self.file.write("  - url: %s\n    id: llama-%d\n" % (url, i))
        self.file.write("routing:\n  expose_decision: true\nlog:\n  access: off\n" + settings)
        self.file.close()

    def __enter__(self):
        self.process = subprocess.Popen([ROUTER, "--config", self.file.name])
        wait_until(self.is_ready, "the router's readiness", process=self.process)
        return self

    def is_ready(self):
        with urllib.request.urlopen("http://127.0.0.1:%d/readyz" % self.admin_port, timeout=5) as answer:
            return answer.status == 200

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        os.unlink(self.file.name)

    def metric(self, name):
        with urllib.request.urlopen("http://127.0.0.1:%d/metrics" % self.admin_port, timeout=5) as answer:
            return exposition.metric(answer.read().decode(), name)


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


def make_authority_and_certificate(folder):
    """An authority and its certificate for 127.0.0.1; returns the files: authority, certificate, key."""
    authority, authority_key, certificate, key, request, names = (
        os.path.join(folder, name) for name in ("ca.pem", "ca.key", "own.pem", "own.key", "own.csr", "names"))
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    openssl("req", "-x509", *curve, "-keyout", authority_key, "-out", authority, "-days", "2", "-subj", "/CN=authority",
            "-addext", "keyUsage=critical,keyCertSign")
    openssl("req", *curve, "-keyout", key, "-out", request, "-subj", "/CN=router")
    with open(names, "w") as file:
        file.write("subjectAltName=IP:127.0.0.1\nauthorityKeyIdentifier=keyid\n")
    openssl("x509", "-req", "-in", request, "-CA", authority, "-CAkey", authority_key, "-CAcreateserial", "-days", "2",
            "-out", certificate, "-extfile", names)
    return authority, certificate, key


class TlsTest(unittest.TestCase):
    """Both SDKs over TLS with an authority of one's own, and with API keys that the router asks for."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.authority, certificate, key = make_authority_and_certificate(folder.name)
        settings = "tls:\n  certificate: %s\n  key: %s\n" % (certificate, key)
        settings += "api_keys:\n  - name: sdk\n    sha256: %s\n" % hashlib.sha256(API_KEY.encode()).hexdigest()
        cls.router = Router(settings, "https").__enter__()
        cls.addClassCleanup(cls.router.__exit__)

    def clients(self, key=API_KEY, authority=None):
        trusted = ssl.create_default_context(cafile=authority or self.authority)
        for make, http, path in ((openai.OpenAI, openai.DefaultHttpxClient, "/v1"),
                                 (anthropic.Anthropic, anthropic.DefaultHttpxClient, "")):
            client = make(base_url=self.router.url + path, api_key=key, max_retries=0, timeout=60,
                          http_client=http(verify=trusted))
            self.addCleanup(client.close)
            yield client

    def test_answers_plain_and_streamed(self):
        chat, messages = self.clients()
        question = dict(model="tiny", max_tokens=8, messages=[{"role": "user", "content": "hello over tls"}])
        self.assertEqual(chat.chat.completions.create(**question).usage.completion_tokens, 8)
        self.assertGreater(len(list(chat.chat.completions.create(**question, stream=True))), 2)
        self.assertEqual(messages.messages.create(**question).role, "assistant")
        with messages.messages.stream(**question) as stream:
            self.assertGreater(stream.get_final_message().usage.output_tokens, 0)

    def test_an_unknown_key_is_the_sdks_own_error(self):
        chat, messages = self.clients(key="sk-unknown")
        question = dict(model="tiny", max_tokens=8, messages=[{"role": "user", "content": "hello"}])
        with self.assertRaises(openai.AuthenticationError) as caught:
            chat.chat.completions.create(**question)
        self.assertEqual(caught.exception.code, "invalid_api_key")
        with self.assertRaises(anthropic.AuthenticationError):
            messages.messages.create(**question)

    def test_a_certificate_of_an_unknown_authority_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            other, _, _ = make_authority_and_certificate(folder)
            chat, messages = self.clients(authority=other)
            with self.assertRaises(openai.APIConnectionError):
                chat.models.list()
            with self.assertRaises(anthropic.APIConnectionError):
                messages.models.list()


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
        wait_until(lambda: self.router.metric("requests_in_flight") == 0, "an end of the request")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
