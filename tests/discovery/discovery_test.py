#!/usr/bin/env python3
"""Discovery by the real daemon: a scripted name server, a file, the double of an API server.

usage: discovery_test.py ROUTER_BINARY

Nothing is measured: each step waits for a state. Python's standard library and openssl only.
"""
import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

import api_double
import dns_double

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import exposition  # noqa: E402

ROUTER = sys.argv.pop(1)
PATIENCE = 60
NAME = "engines.test"
ALIKE = ["127.0.138.180", "127.0.175.186"]  # with port 9 their URLs have the same default id
ALIKE_URLS = ["http://%s:9" % address for address in ALIKE]
NO_HEALTH = "health:\n  interval: 100ms\n"


def wait_until(holds, what=""):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            if holds():
                return
        except (OSError, KeyError):
            pass
        time.sleep(0.02)
    raise AssertionError("did not come about: " + str(what() if callable(what) else what))


class Engine:
    """Answers everything with its own address."""

    def __init__(self, address="127.0.0.1", port=0):
        authorizations = self.authorizations = set()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                authorizations.add(self.headers.get("Authorization"))
                data = ("%s:%d" % self.server.server_address[:2]).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.http = http.server.ThreadingHTTPServer((address, port), Handler)
        self.port = self.http.server_address[1]
        self.url = "http://%s:%d" % (address, self.port)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()


def engines(count):
    """On one port of as many loopback addresses, as pods of one Service are."""
    while True:
        made = [Engine()]
        try:
            while len(made) < count:
                made.append(Engine("127.0.0.%d" % (len(made) + 1), made[0].port))
            return made
        except OSError:
            for engine in made:
                engine.close()


class Router:
    def __init__(self, settings, environment=None):
        self.folder = tempfile.TemporaryDirectory()
        path = os.path.join(self.folder.name, "router.yaml")
        with open(path, "w") as file:
            file.write("listen: 127.0.0.1:0\nadmin: 127.0.0.1:0\nthreads: 1\n" + NO_HEALTH + settings)
        self.output = open(os.path.join(self.folder.name, "output"), "w+b")
        self.process = subprocess.Popen([ROUTER, "--config", path], stdin=subprocess.DEVNULL, stdout=self.output,
                                        stderr=self.output, env={**os.environ, **(environment or {})})
        wait_until(lambda: "serving on" in self.text() or self.process.poll() is not None, self.text)
        ports = self.listening()
        self.port = int(re.search(r"serving on 127.0.0.1:(\d+)", self.text())[1])
        self.admin_port = next(port for port in ports if port != self.port)

    def listening(self):
        """The ports of the daemon's listening sockets, from the kernel."""
        inodes = set()
        folder = "/proc/%d/fd" % self.process.pid
        for descriptor in os.listdir(folder):
            try:
                inodes.add(os.readlink(os.path.join(folder, descriptor)))
            except OSError:
                pass
        with open("/proc/%d/net/tcp" % self.process.pid) as table:
            rows = [line.split() for line in table.readlines()[1:]]
        return [int(row[1].split(":")[1], 16) for row in rows if row[3] == "0A" and "socket:[%s]" % row[9] in inodes]

    def text(self):
        with open(self.output.name, "rb") as file:
            return file.read().decode()

    def admin(self, path):
        with urllib.request.urlopen("http://127.0.0.1:%d%s" % (self.admin_port, path), timeout=PATIENCE) as reply:
            return reply.read().decode()

    def is_ready(self):
        try:
            self.admin("/readyz")
            return True
        except urllib.error.HTTPError:
            return False

    def backends(self):
        """id -> URL of those that get requests."""
        state = json.loads(self.admin("/backends"))
        rows = state["backends"] if isinstance(state, dict) else state
        return {row["id"]: row["url"] for row in rows if not row["draining"] and not row.get("leaving")}

    def urls(self):
        return sorted(self.backends().values())

    def metric(self, name):
        return exposition.metric(self.admin("/metrics"), "discovery_" + name)

    def ask(self):
        with urllib.request.urlopen("http://127.0.0.1:%d/x" % self.port, timeout=PATIENCE) as reply:
            return reply.read().decode()

    def wait_for(self, *urls):
        wait_until(lambda: self.urls() == sorted(urls), lambda: (urls, self.urls(), self.text()))

    def wait_for_up(self, value):
        wait_until(lambda: self.metric("up") == value, self.text)

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self.process.wait()
            self.output.close()


class Case(unittest.TestCase):
    def start(self, settings, environment=None):
        router = Router(settings, environment)
        self.addCleanup(router.end)
        return router

    def engines(self, count):
        made = engines(count)
        for engine in made:
            self.addCleanup(engine.close)
        return made

    def lines(self, router, words):
        return sum(words in line for line in router.text().splitlines())


class Dns(Case):
    def setUp(self):
        self.server = dns_double.DnsServer()
        self.addCleanup(self.server.close)

    def settings(self, more="", nameserver=None, name=NAME, top=""):
        return ("discovery:\n%s  dns:\n    - name: %s\n      nameserver: %s\n      min_interval: 50ms\n"
                "      max_interval: 300ms\n%s" % (top, name, nameserver or self.server.address, more))

    def test_addresses_are_backends_that_come_and_go(self):
        first, second, third = self.engines(3)
        self.server.set(NAME, "A", ["127.0.0.1", "127.0.0.2"])
        router = self.start(self.settings("      port: %d\n" % first.port))
        router.wait_for(first.url, second.url)
        ids = router.backends()
        wait_until(router.is_ready)
        self.assertIn(router.ask(), (first.url[7:], second.url[7:]))
        self.server.set(NAME, "A", ["127.0.0.2", "127.0.0.3"])
        router.wait_for(second.url, third.url)
        self.assertEqual([i for i, url in router.backends().items() if url == second.url],
                         [i for i, url in ids.items() if url == second.url], "an id that stays")
        wait_until(lambda: router.metric("backends") == 2, router.text)
        router.wait_for_up(1)

    def test_a_time_to_live_is_waited_for(self):
        engine, = self.engines(1)
        self.server.set("long.test", "A", ["127.0.0.1"], ttl=3600)
        self.server.set(NAME, "A", ["127.0.0.2"])
        settings = self.settings("      port: %d\n" % engine.port)
        router = self.start(settings + "    - {name: long.test, port: %d, nameserver: '%s', max_interval: 24h}\n" % (
            engine.port, self.server.address))
        router.wait_for(engine.url, engine.url.replace("0.1:", "0.2:"))
        asked = self.server.times_asked(NAME)
        wait_until(lambda: self.server.times_asked(NAME) > asked + 5)
        self.assertEqual(self.server.times_asked("long.test"), 1)

    def test_what_fails_keeps_the_last_answer_and_says_so_once(self):
        engine, = self.engines(1)
        self.server.set(NAME, "A", ["127.0.0.1"])
        router = self.start(self.settings("      port: %d\n" % engine.port))
        router.wait_for(engine.url)
        router.wait_for_up(1)
        for how in ("SERVFAIL", "NXDOMAIN", "silence"):
            with self.subTest(how):
                said = self.lines(router, "what it named last stays")
                failures = router.metric("failures_total")
                self.server.misbehave(NAME, how)
                router.wait_for_up(0)
                if how != "silence":
                    wait_until(lambda: router.metric("failures_total") > failures + 3)
                self.assertEqual(router.urls(), [engine.url])
                wait_until(lambda: self.lines(router, "what it named last stays") == said + 1, router.text)
                self.server.set(NAME, "A", ["127.0.0.1"])
                router.wait_for_up(1)
        wait_until(lambda: self.lines(router, "works again") == 3, router.text)

    def test_an_empty_answer_removes_all_where_that_is_allowed(self):
        engine, = self.engines(1)
        self.server.set(NAME, "A", ["127.0.0.1"])
        router = self.start(self.settings("      port: %d\n" % engine.port, top="  allow_empty: true\n"))
        router.wait_for(engine.url)
        self.server.misbehave(NAME, "NXDOMAIN")
        router.wait_for()
        router.wait_for_up(1)

    def test_the_daemon_starts_without_a_name_server(self):
        nameserver = dns_double.dead_address()
        router = self.start(self.settings("      port: 8000\n", nameserver))
        wait_until(lambda: router.metric("failures_total") > 0)
        self.assertFalse(router.is_ready())
        router.wait_for_up(0)
        self.assertEqual(router.urls(), [])
        wait_until(lambda: self.lines(router, "no answer to DNS") == 1, router.text)

    def test_srv_records_say_the_ports_and_the_lowest_priority_is_used(self):
        one, other = Engine(), Engine()
        self.addCleanup(one.close)
        self.addCleanup(other.close)
        service = "_http._tcp.engines.test"
        self.server.set("a.test", "A", ["127.0.0.1"])
        self.server.set("b.test", "A", ["127.0.0.1"])
        self.server.set(service, "SRV", [(10, 1, one.port, "a.test"), (10, 3, other.port, "b.test"),
                                         (20, 1, 9, "a.test")])
        router = self.start(self.settings(name=service))
        router.wait_for(one.url, other.url)
        self.server.set(service, "SRV", [(20, 1, other.port, "a.test")])
        router.wait_for(other.url)

    def test_an_answer_too_large_for_a_datagram_comes_over_tcp(self):
        addresses = ["127.0.1.%d" % (i + 1) for i in range(60)]
        self.server.set(NAME, "A", addresses)
        router = self.start(self.settings("      port: 9\n"))
        router.wait_for(*("http://%s:9" % address for address in addresses))
        self.assertTrue(self.server.was_asked_over_tcp(NAME))

    def test_more_addresses_than_backends_may_be_change_nothing(self):
        engine, = self.engines(1)
        self.server.set(NAME, "A", ["127.0.0.1"])
        router = self.start(self.settings("      port: %d\n" % engine.port))
        router.wait_for(engine.url)
        router.wait_for_up(1)
        self.server.set(NAME, "A", ["127.1.%d.%d" % (i // 250, i % 250 + 1) for i in range(4000)])
        router.wait_for_up(0)
        wait_until(lambda: self.lines(router, "would make it 4000 backends; a router serves at most 1024") == 1, router.text)
        self.assertEqual(router.urls(), [engine.url])
        self.server.set(NAME, "A", ["127.0.0.1"])
        router.wait_for_up(1)

    def test_addresses_whose_urls_have_the_same_hash_are_all_there_and_keep_their_ids(self):
        self.server.set(NAME, "A", ALIKE)
        router = self.start(self.settings("      port: 9\n"))
        router.wait_for(*ALIKE_URLS)
        last = next(id for id, url in router.backends().items() if url == ALIKE_URLS[1])
        self.assertRegex(last, "^[0-9a-f]{8}-2$")
        self.server.set(NAME, "A", ALIKE[1:])
        router.wait_for(ALIKE_URLS[1])
        self.assertEqual(list(router.backends()), [last])

    def test_certificates_and_credentials_are_read_again_with_the_configuration(self):
        engine, = self.engines(1)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        secret = os.path.join(folder.name, "secret")
        with open(secret, "w") as file:
            file.write("Bearer first\n")
        self.server.set(NAME, "A", ["127.0.0.1"])
        router = self.start(self.settings("      port: %d\n      authorization: file:%s\n" % (engine.port, secret),
                                          top="") + "reload: {watch: true}\n")
        router.wait_for(engine.url)
        wait_until(lambda: "Bearer first" in engine.authorizations)
        with open(secret, "w") as file:
            file.write("Bearer second\n")
        wait_until(lambda: "Bearer second" in engine.authorizations)

    def test_ipv6_where_there_is_no_ipv4(self):
        self.server.set(NAME, "AAAA", ["::1"])
        router = self.start(self.settings("      port: 9\n"))
        router.wait_for("http://[::1]:9")
        self.server.set(NAME, "A", ["127.0.0.1"])
        router.wait_for("http://127.0.0.1:9")

    def test_a_silent_name_server_holds_up_neither_requests_nor_the_end(self):
        engine, = self.engines(1)
        self.server.misbehave(NAME, "silence")
        router = self.start("backends: [{url: '%s'}]\n%s" % (engine.url, self.settings("      port: 9\n")))
        wait_until(lambda: self.server.times_asked(NAME) > 0)
        wait_until(router.is_ready)
        self.assertEqual(router.ask(), engine.url[7:])
        self.assertEqual(router.end(), 0)


class File(Case):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "backends.yaml")
        self.engines_ = self.engines(2)
        self.first, self.second = (engine.url for engine in self.engines_)

    def replace(self, text):
        new = self.path + ".new"
        with open(new, "w") as file:
            file.write(text)
        os.replace(new, self.path)

    def launch(self, more="", backends=""):
        return self.start("%sdiscovery:\n  file: %s\n%s" % (backends, self.path, more))

    def test_is_followed_when_it_is_replaced(self):
        self.replace("- url: %s\n  id: first\n" % self.first)
        router = self.launch()
        router.wait_for(self.first)
        self.replace(json.dumps({"backends": [{"url": self.first, "id": "first"}, {"url": self.second}]}))
        router.wait_for(self.first, self.second)
        self.assertEqual(router.backends()["first"], self.first)
        self.replace("- url: %s\n" % self.second)
        router.wait_for(self.second)

    def test_may_come_later_and_be_written_in_place(self):
        router = self.launch()
        router.wait_for_up(0)
        self.assertFalse(router.is_ready())
        with open(self.path, "w") as file:
            file.write("- url: %s\n" % self.first)
        router.wait_for(self.first)
        wait_until(router.is_ready)

    def test_a_mistake_changes_nothing_and_is_said_with_its_line(self):
        self.replace("- url: %s\n" % self.first)
        router = self.launch()
        router.wait_for(self.first)
        router.wait_for_up(1)
        self.replace("- url: %s\n- url: %s\n  wait: 3\n" % (self.first, self.second))
        router.wait_for_up(0)
        wait_until(lambda: self.lines(router, "backends.yaml:3: unknown key 'wait'") == 1, router.text)
        self.assertEqual(router.urls(), [self.first])
        self.replace("- url: [\n")
        wait_until(lambda: self.lines(router, "not valid YAML") == 1, router.text)
        self.replace("- url: %s\n" % self.second)
        router.wait_for(self.second)
        router.wait_for_up(1)

    def test_removed_or_emptied_it_keeps_what_it_named(self):
        self.replace("- url: %s\n" % self.first)
        router = self.launch()
        router.wait_for(self.first)
        router.wait_for_up(1)
        os.unlink(self.path)
        router.wait_for_up(0)
        self.assertEqual(router.urls(), [self.first])
        self.replace("- url: %s\n" % self.first)
        router.wait_for_up(1)
        self.replace("[]\n")
        router.wait_for_up(0)
        wait_until(lambda: self.lines(router, "names no backend") == 1, router.text)
        self.assertEqual(router.urls(), [self.first])

    def test_is_followed_through_the_links_of_a_mounted_config_map(self):
        def publish(version, text):
            folder = os.path.join(self.folder.name, version)
            os.mkdir(folder)
            with open(os.path.join(folder, "backends.yaml"), "w") as file:
                file.write(text)
            os.symlink(version, os.path.join(self.folder.name, "..data_tmp"))
            os.replace(os.path.join(self.folder.name, "..data_tmp"), os.path.join(self.folder.name, "..data"))

        publish("..v1", "- url: %s\n" % self.first)
        os.symlink("..data/backends.yaml", self.path)
        router = self.launch()
        router.wait_for(self.first)
        publish("..v2", "- url: %s\n" % self.second)
        router.wait_for(self.second)

    def test_whatever_comes_in_its_place_changes_nothing_and_holds_up_nobody(self):
        def garbage():
            self.replace("\0\1\2" * 1000)

        def folder():
            os.mkdir(self.path)

        def pipe():
            os.mkfifo(self.path)

        def large():
            with open(self.path, "w") as file:
                file.truncate(1 << 40)

        def loop():
            os.symlink(self.path, self.path)

        self.replace("- url: %s\n" % self.first)
        router = self.launch()
        router.wait_for(self.first)
        for put, said in ((garbage, "not UTF-8"), (folder, "Is a directory"), (pipe, "must be a list"),
                          (large, "is larger than 1 MiB"), (loop, "Too many levels of symbolic links")):
            with self.subTest(put.__name__):
                router.wait_for_up(1)
                os.unlink(self.path)
                put()
                wait_until(lambda: self.lines(router, said) == 1, router.text)
                self.assertEqual(router.urls(), [self.first])
                shutil.rmtree(self.path) if os.path.isdir(self.path) else os.unlink(self.path)
                self.replace("- url: %s\n" % self.first)
        router.wait_for_up(1)
        self.assertEqual(router.end(), 0)

    def test_that_names_nobody_from_the_start_is_told(self):
        self.replace("[]\n")
        router = self.launch()
        wait_until(lambda: self.lines(router, "names no backend") == 1, router.text)
        self.assertEqual(router.metric("up"), 0)
        self.assertEqual(exposition.metric(router.admin("/metrics"), "usable_backends"), 0)
        self.replace("- url: %s\n" % self.first)
        router.wait_for(self.first)
        router.wait_for_up(1)
        wait_until(lambda: exposition.metric(router.admin("/metrics"), "usable_backends") == 1)

    def test_that_names_nobody_may_be_right(self):
        self.replace("[]\n")
        router = self.launch("  allow_empty: true\n")
        router.wait_for_up(1)

    def test_takes_over_what_an_operator_had_added_before(self):
        self.replace("- url: %s\n" % self.first)
        router = self.launch()
        router.wait_for(self.first)
        added = urllib.request.Request("http://127.0.0.1:%d/backends" % router.admin_port,
                                       json.dumps({"url": self.second}).encode())
        urllib.request.urlopen(added, timeout=PATIENCE).close()
        router.wait_for(self.first, self.second)
        self.replace("- url: %s\n- url: %s\n" % (self.first, self.second))
        wait_until(lambda: router.metric("backends") == 2, router.text)
        router.wait_for_up(1)
        self.replace("- url: %s\n" % self.first)
        router.wait_for(self.first)

    def test_an_id_of_the_configuration_is_not_taken(self):
        self.replace("- {url: '%s', id: taken}\n" % self.second)
        router = self.launch(backends="backends: [{url: '%s', id: taken}]\n" % self.first)
        wait_until(lambda: router.metric("failures_total") > 0)
        self.assertEqual(router.backends(), {"taken": self.first})
        self.replace("- {url: '%s', id: free}\n" % self.second)
        router.wait_for(self.first, self.second)
        router.wait_for_up(1)


def make_certificate(folder):
    certificate, key = (os.path.join(folder, "server" + end) for end in (".pem", ".key"))
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=api",
                    "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    return certificate, key


class Kubernetes(Case):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("openssl"):
            raise unittest.SkipTest("openssl is not installed")
        cls.certificates = tempfile.TemporaryDirectory()
        cls.certificate, cls.key = make_certificate(cls.certificates.name)

    @classmethod
    def tearDownClass(cls):
        cls.certificates.cleanup()

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.server = api_double.ApiServer(self.certificate, self.key, "first")
        self.addCleanup(lambda: self.server.close())
        self.write_token("first")
        self.kubeconfig = os.path.join(self.folder.name, "config")
        self.write_kubeconfig()
        self.engines_ = self.engines(3)
        self.port = self.engines_[0].port
        self.one, self.two, self.three = (engine.url for engine in self.engines_)

    def write_token(self, token):
        path = os.path.join(self.folder.name, "token")
        with open(path + ".new", "w") as file:
            file.write(token + "\n")
        os.replace(path + ".new", path)

    def write_kubeconfig(self):
        with open(self.kubeconfig, "w") as file:
            json.dump({"kind": "Config", "current-context": "c",
                       "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u", "namespace": "inference"}}],
                       "clusters": [{"name": "k", "cluster": {"server": self.server.url,
                                                              "certificate-authority": self.certificate}}],
                       "users": [{"name": "u", "user": {"tokenFile": "token"}}]}, file)

    def launch(self, more="", top=""):
        return self.start("discovery:\n%s  kubernetes:\n    - service: engines\n      port: http\n"
                          "      kubeconfig: %s\n%s" % (top, self.kubeconfig, more))

    def slice(self, name, version, **endpoints):
        """`endpoints`: pod -> last number of its address, or (that, conditions)."""
        pairs = {}
        for pod, where in endpoints.items():
            number, conditions = where if isinstance(where, tuple) else (where, {})
            pairs[pod.replace("_", "-")] = ("127.0.0.%d" % number, conditions)
        return api_double.slice_of(name, version, pairs, (("http", self.port), ("metrics", 9)))

    def test_endpoints_whose_urls_have_the_same_hash_are_all_there(self):
        pods = {"no.id.%d" % i: (address, {}) for i, address in enumerate(ALIKE)}
        self.server.set(100, api_double.slice_of("a", 90, pods, (("http", 9),)))
        self.launch().wait_for(*ALIKE_URLS)

    def test_slices_are_listed_and_followed(self):
        self.server.set(100, self.slice("a", 90, engine_0=1))
        router = self.launch()
        watch = self.server.next_watch()
        self.assertEqual(watch.version(), "100")
        self.assertEqual(watch.query["allowWatchBookmarks"], ["true"])
        router.wait_for(self.one)
        self.assertEqual(list(router.backends()), ["engine-0-%d" % self.port])
        wait_until(router.is_ready)
        self.assertEqual(router.ask(), self.one[7:])
        watch.event("ADDED", self.slice("b", 101, engine_1=2, engine_2=(3, {"ready": False, "serving": False})))
        router.wait_for(self.one, self.two)
        watch.event("MODIFIED", self.slice("b", 102, engine_1=2, engine_2=3))
        router.wait_for(self.one, self.two, self.three)
        terminating = {"ready": False, "serving": True, "terminating": True}
        watch.event("MODIFIED", self.slice("b", 103, engine_1=(2, terminating), engine_2=3))
        router.wait_for(self.one, self.three)
        watch.event("DELETED", self.slice("a", 104, engine_0=1))
        router.wait_for(self.three)
        self.assertEqual(self.server.lists, 1)
        router.wait_for_up(1)

    def test_a_reload_in_the_middle_of_a_watch_changes_nothing_of_it(self):
        self.server.set(100, self.slice("a", 90, engine_0=1))
        router = self.launch()
        watch = self.server.next_watch()
        router.wait_for(self.one)
        event = json.dumps({"type": "ADDED", "object": self.slice("b", 101, engine_1=2)}).encode() + b"\n"
        watch.send(event[:60])
        for reloads in (1, 2, 3):
            router.process.send_signal(signal.SIGHUP)
            wait_until(lambda: exposition.metric(router.admin("/metrics"), "config_reloads_total") == reloads)
        self.assertEqual(router.urls(), [self.one])
        watch.send(event[60:])
        router.wait_for(self.one, self.two)
        self.assertEqual((self.server.lists, router.metric("failures_total")), (1, 0))

    def test_a_watch_cut_in_mid_line_goes_on_from_the_last_whole_event(self):
        self.server.set(100, self.slice("a", 90, engine_0=1))
        router = self.launch()
        watch = self.server.next_watch()
        watch.event("ADDED", self.slice("b", 101, engine_1=2))
        watch.bookmark(150)
        watch.send(b'{"type":"DELETED","object":{"metadata":{"name":"b","resourceVersion":"160"},"addre')
        watch.cut()
        watch = self.server.next_watch()
        self.assertEqual(watch.version(), "150")
        watch.event("MODIFIED", self.slice("b", 170, engine_1=2, engine_2=3))
        router.wait_for(self.one, self.two, self.three)
        watch.end()
        self.assertEqual(self.server.next_watch().version(), "170")
        self.assertEqual(self.server.lists, 1)
        self.assertEqual(router.metric("failures_total"), 0, "a watch that ends is no failure")

    def test_a_version_that_is_gone_is_listed_again(self):
        self.server.set(100, self.slice("a", 90, engine_0=1))
        router = self.launch()
        watch = self.server.next_watch()
        router.wait_for(self.one)
        self.server.set(300, self.slice("c", 290, engine_2=3))
        watch.event("ERROR", api_double.status(410, "Expired", "too old resource version: 100 (290)"))
        watch.end()
        self.assertEqual(self.server.next_watch().version(), "300")
        router.wait_for(self.three)

    def test_a_version_that_is_gone_before_the_watch_begins_is_listed_again(self):
        self.server.set(100, self.slice("a", 90, engine_0=1))
        router = self.launch()
        watch = self.server.next_watch()
        self.server.set(400, self.slice("a", 390, engine_0=1, engine_1=2))
        self.server.watch_refusal = api_double.status(410, "Gone", "too old")
        watch.end()
        wait_until(lambda: self.server.lists > 1)
        self.server.watch_refusal = None
        self.assertEqual(self.server.next_watch().version(), "400")
        router.wait_for(self.one, self.two)

    def test_a_version_that_a_restored_server_has_not_come_to_is_listed_again(self):
        self.server.set(100, self.slice("a", 90, engine_0=1))
        router = self.launch()
        watch = self.server.next_watch()
        router.wait_for(self.one)
        self.server.set(40, self.slice("a", 39, engine_0=1, engine_1=2))
        self.server.watch_refusal = api_double.status(504, "Timeout", "Too large resource version: 100, current: 40")
        watch.end()
        wait_until(lambda: self.server.lists > 1)
        self.server.watch_refusal = None
        self.assertEqual(self.server.next_watch().version(), "40")
        router.wait_for(self.one, self.two)

    def test_what_is_no_event_is_listed_again(self):
        self.server.set(100, self.slice("a", 90, engine_0=1))
        router = self.launch()
        self.server.next_watch().send(b"<html>a proxy's page</html>\n")
        self.server.next_watch()
        self.assertEqual(self.server.lists, 2)
        router.wait_for(self.one)

    def test_a_token_that_rotates_is_read_again(self):
        self.server.set(100, self.slice("a", 90, engine_0=1))
        router = self.launch()
        watch = self.server.next_watch()
        router.wait_for(self.one)
        router.wait_for_up(1)
        self.server.token = "second"
        watch.end()
        router.wait_for_up(0)
        wait_until(lambda: self.lines(router, "answers 401: Unauthorized; what it named last stays") == 1, router.text)
        self.assertEqual(router.urls(), [self.one])
        self.write_token("second")
        watch = self.server.next_watch()
        router.wait_for_up(1)
        watch.event("MODIFIED", self.slice("a", 110, engine_0=1, engine_1=2))
        router.wait_for(self.one, self.two)
        self.assertNotIn("second", router.text())

    def test_a_server_that_is_away_changes_nothing_and_is_come_back_to(self):
        self.server.set(100, self.slice("a", 90, engine_0=1))
        router = self.launch()
        self.server.next_watch()
        router.wait_for(self.one)
        router.wait_for_up(1)
        port = self.server.port
        self.server.close()
        router.wait_for_up(0)
        self.assertEqual(router.urls(), [self.one])
        wait_until(lambda: self.lines(router, "what it named last stays") == 1, router.text)
        self.server = api_double.ApiServer(self.certificate, self.key, "first", port)
        self.server.set(500, self.slice("a", 490, engine_0=1))
        watch = self.server.next_watch()
        self.assertEqual(watch.version(), "100")
        watch.event("MODIFIED", self.slice("a", 510, engine_1=2))
        router.wait_for(self.two)
        router.wait_for_up(1)

    def test_the_daemon_starts_without_a_server_and_without_rights(self):
        self.server.refusal = api_double.status(403, "Forbidden", "endpointslices is forbidden")
        router = self.launch()
        wait_until(lambda: self.lines(router, "get, list and watch endpointslices.discovery.k8s.io") == 1, router.text)
        self.assertFalse(router.is_ready())
        self.server.set(100, self.slice("a", 90, engine_0=1))
        self.server.refusal = None
        router.wait_for(self.one)
        wait_until(router.is_ready)

    def test_no_endpoint_at_all_removes_nothing(self):
        self.server.set(100, self.slice("a", 90, engine_0=1))
        router = self.launch()
        watch = self.server.next_watch()
        router.wait_for(self.one)
        router.wait_for_up(1)
        watch.event("DELETED", self.slice("a", 101, engine_0=1))
        router.wait_for_up(0)
        self.assertEqual(router.urls(), [self.one])
        watch.event("ADDED", self.slice("b", 102, engine_1=2))
        router.wait_for(self.two)
        router.wait_for_up(1)

    def test_a_server_with_another_certificate_is_not_believed(self):
        with tempfile.TemporaryDirectory() as other:
            certificate, _ = make_certificate(other)
            self.certificate, believed = certificate, self.certificate
            try:
                self.write_kubeconfig()
            finally:
                self.certificate = believed
            router = self.launch()
            wait_until(lambda: router.metric("failures_total") > 0)
        self.assertEqual(self.server.paths, [])

    def test_outside_of_a_pod_it_is_said(self):
        router = self.start("discovery:\n  kubernetes: [{service: engines}]\n", {"KUBERNETES_SERVICE_HOST": ""})
        wait_until(lambda: self.lines(router, "this is no pod; write discovery.kubernetes[].kubeconfig") == 1, router.text)

    def test_a_watch_that_waits_does_not_hold_up_the_end(self):
        self.server.set(100, self.slice("a", 90, engine_0=1))
        router = self.launch("      watch: 1h\n")
        self.server.next_watch()
        self.assertEqual(router.end(), 0)


if __name__ == "__main__":
    unittest.main()
