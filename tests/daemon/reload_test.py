#!/usr/bin/env python3
"""The configuration read again under a running daemon: by SIGHUP, by POST /config/reload, by reload.watch.

usage: reload_test.py ROUTER_BINARY
"""
import contextlib
import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import threading
import unittest
import urllib.error
import urllib.request

from daemon_test import PATIENCE, PATIENT_PROBES, ROUTER, Backend, Router, answer, free_port, read_until, wait_until

RELOADS = 1000


def entries(*backends):
    return "backends:\n" + "".join("  - {id: %s, url: '%s'}\n" % (name, backend.url) for name, backend in backends)


def is_open(router, path):
    """Whether the daemon has this file open."""
    folder = "/proc/%d/fd" % router.process.pid
    for descriptor in os.listdir(folder):
        try:
            if os.readlink(os.path.join(folder, descriptor)) == path:
                return True
        except OSError:
            pass
    return False


@contextlib.contextmanager
def running_stream(router, backend):
    """(client, event): a client in the middle of an answer of `backend`, which ends once the event is set."""
    finish = threading.Event()

    def stream(connection, head, body):
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
        finish.wait(PATIENCE)
        connection.sendall(b"1\r\nb\r\n0\r\n\r\n")

    backend.script = stream
    with router.client() as client:
        client.sendall(b"GET /stream HTTP/1.1\r\nHost: r\r\n\r\n")
        read_until(client, b"", b"1\r\na\r\n")
        yield client, finish


class Reloadable(Router):
    """A daemon whose file is text of the test's own, below listen and admin."""

    def __init__(self, text, are_up, more="", admin_host="127.0.0.1"):
        """Returns once so many backends are healthy; None: whatever they are."""
        self.port, self.admin_port = free_port(), free_port()
        self.top = "listen: '127.0.0.1:%d'\nadmin: %s:%d\n%s" % (self.port, admin_host, self.admin_port, more)
        self.folder = tempfile.TemporaryDirectory()
        self.write(text)
        self.launch(self.path)
        if are_up is not None:
            wait_until(lambda: self.metric("backend_healthy") == are_up)

    def launch(self, path):
        self.begin(path)
        wait_until(lambda: b"serving on" in self.text() or self.process.poll() is not None)

    def begin(self, path):
        self.output = open(os.path.join(self.folder.name, "output"), "w+b")
        self.process = subprocess.Popen([ROUTER, "--config", path], stdout=self.output, stderr=self.output)

    @property
    def path(self):
        return os.path.join(self.folder.name, "router.yaml")

    def write(self, text, top=None):
        """Replaces the file in one step."""
        with open(self.path + ".next", "w") as file:
            file.write((top or self.top) + ("" if "health:" in text else PATIENT_PROBES) + text)
        os.replace(self.path + ".next", self.path)

    def post(self, path, body=b"", fields=None, method="POST"):
        """Status and parsed answer of the admin listener."""
        request = urllib.request.Request("http://127.0.0.1:%d%s" % (self.admin_port, path), body, fields or {},
                                         method=method)
        try:
            reply = urllib.request.urlopen(request, timeout=PATIENCE)
        except urllib.error.HTTPError as error:
            reply = error
        with reply:
            return reply.status, json.load(reply)

    def reload(self, text, top=None):
        self.write(text, top)
        return self.post("/config/reload")

    def hang_up(self):
        before = self.metric("config_reloads_total")
        self.process.send_signal(signal.SIGHUP)
        wait_until(lambda: self.metric("config_reloads_total") > before)

    def says(self, text):
        """Its log is written by a thread of its own."""
        wait_until(lambda: text in self.text())

    def ids(self):
        return sorted(backend["id"] for backend in json.loads(self.admin("/backends"))["backends"])


class ByHangUp(unittest.TestCase):
    def setUp(self):
        self.a, self.b, self.c = Backend(), Backend(), Backend()
        self.router = Reloadable(entries(("a", self.a), ("b", self.b)), 2)
        self.addCleanup(self.router.end)

    def test_backends_come_and_go_and_the_others_keep_what_is_known(self):
        for _ in range(20):
            self.assertIn(b"200 OK", self.router.ask())
        kept = self.sent_to("b")
        self.assertGreater(kept, 0)
        self.router.write(entries(("b", self.b), ("c", self.c)))
        self.router.hang_up()
        self.assertEqual(self.router.ids(), ["b", "c"])
        self.router.says(b"backends added c; backends removed a")
        self.assertEqual(self.sent_to("b"), kept)
        wait_until(lambda: 'backend="a"' not in self.router.admin("/metrics"))
        wait_until(lambda: self.router.metric("backend_healthy") == 2)
        seen = len(self.a.heads)
        wait_until(lambda: b"200 OK" in self.router.ask() and self.c.heads)
        self.assertEqual(len(self.a.heads), seen)

    def sent_to(self, backend):
        lines = self.router.admin("/metrics").splitlines()
        return sum(float(line.split()[1]) for line in lines
                   if line.startswith('prefix_router_backend_requests_total{backend="%s"}' % backend))

    def test_a_bad_file_changes_nothing_and_says_why(self):
        self.router.write(entries(("c", self.c)) + "rooting: {}\ntimeouts: {connect: 5}\n")
        self.router.hang_up()
        self.router.says(b"the configuration in force stays")
        self.router.says(b"did you mean 'routing'?")
        self.router.says(b"timeouts.connect")
        self.assertEqual(self.router.ids(), ["a", "b"])
        self.assertEqual(self.router.metric("config_reload_failures_total"), 1)
        self.assertEqual(self.router.metric("config_last_reload_successful"), 0)
        self.assertIn(b"200 OK", self.router.ask())
        self.router.write(entries(("a", self.a), ("b", self.b)))
        self.router.hang_up()
        self.assertEqual(self.router.metric("config_last_reload_successful"), 1)

    def test_a_file_that_is_gone_changes_nothing(self):
        os.remove(self.router.path)
        self.router.hang_up()
        self.router.says(b"cannot be opened")
        self.assertEqual(self.router.ids(), ["a", "b"])


    def test_a_pipe_in_its_place_holds_up_nobody(self):
        os.remove(self.router.path)
        os.mkfifo(self.router.path)
        self.router.process.send_signal(signal.SIGHUP)
        self.router.says(b"the configuration in force stays")
        self.assertEqual(self.router.ids(), ["a", "b"])
        self.assertIn(b"200 OK", self.router.ask())
        self.assertEqual(self.router.end(), 0)

    def test_while_it_reads_everything_is_answered(self):
        os.remove(self.router.path)
        os.mkfifo(self.router.path)
        writer = os.open(self.router.path, os.O_RDWR)
        self.addCleanup(os.close, writer)
        # Each time it waits for the writer for some seconds; a look that takes longer than that says nothing.
        wait_until(self.is_answered_while_it_reads)

    def is_answered_while_it_reads(self):
        before = self.router.metric("config_reloads_total")
        self.router.process.send_signal(signal.SIGHUP)
        wait_until(lambda: self.is_reading() or self.router.metric("config_reloads_total") > before)
        self.assertEqual(self.router.ids(), ["a", "b"])
        is_answered = self.is_reading()
        wait_until(lambda: self.router.metric("config_reloads_total") > before)
        return is_answered

    def is_reading(self):
        return is_open(self.router, self.router.path)


class ByPost(unittest.TestCase):
    def setUp(self):
        self.a, self.b = Backend(), Backend()
        self.router = Reloadable(entries(("a", self.a)), 1)
        self.addCleanup(self.router.end)

    def test_tells_what_is_different(self):
        status, told = self.router.reload(entries(("a", self.a), ("b", self.b)) + "log: {level: debug}\n")
        self.assertEqual((status, told["reloaded"], told["problems"]), (200, True, []))
        self.assertEqual(told["options"], ["log.level"])
        self.assertEqual(told["backends"], {"added": ["b"], "removed": [], "changed": []})
        self.assertIn("level: debug", self.router.admin("/config"))
        self.router.says(b"admin: local: ")

    def test_tells_every_problem(self):
        status, told = self.router.reload(entries(("a", self.a)) + "rooting: {}\ntimeouts: {connect: 5}\n")
        self.assertEqual((status, told["reloaded"], len(told["problems"])), (409, False, 2))

    def test_refuses_by_name_what_needs_a_restart_and_changes_nothing(self):
        top = "listen: '127.0.0.1:%d'\nadmin: 127.0.0.1:%d\nthreads: 7\n" % (free_port(), self.router.admin_port)
        status, told = self.router.reload(entries(("b", self.b)) + "routing: {strategy: random}\n", top)
        self.assertEqual(status, 409)
        self.assertEqual([problem.split(": ")[1] for problem in told["problems"]],
                         ["listen", "threads", "routing.strategy"])
        self.assertEqual(self.router.ids(), ["a"])

    def test_refuses_files_that_cannot_be_used(self):
        for text in ("tls: {certificate: /nowhere.pem, key: /nowhere.key}\n",
                     "  - {id: c, url: 'http://127.0.0.1:1', authorization: 'file:/nowhere'}\n"):
            status, told = self.router.reload(entries(("b", self.b)) + text)
            self.assertEqual(status, 409)
            self.assertIn("/nowhere", told["problems"][0])
            self.assertEqual(self.router.ids(), ["a"])

    def test_a_name_that_does_not_resolve_is_taken_and_told(self):
        unknown = "  - {id: x, url: 'http://nowhere.invalid:1'}\nhealth: {timeout: 100ms, interval: 100ms}\n"
        status, told = self.router.reload(entries(("a", self.a)) + unknown)
        self.assertEqual((status, told["backends"]["added"], told["unresolved"]), (200, ["x"], ["x"]))
        self.router.says(b"of which wait for a name that does not resolve x")
        started = Reloadable(entries(("a", self.a)) + unknown, 1)
        self.addCleanup(started.end)
        for router in (self.router, started):
            router.says(b"backend x (http://nowhere.invalid:1) fails its health probe: connect_failed: the name "
                        b"nowhere.invalid ")
            wait_until(lambda: "nowhere.invalid did not resolve" in router.admin("/backends"))
            self.assertIn(b"200 OK", router.ask())

    def test_while_it_waits_for_a_file_the_listener_answers(self):
        os.remove(self.router.path)
        os.mkfifo(self.router.path)
        writer = os.open(self.router.path, os.O_RDWR)
        self.addCleanup(os.close, writer)
        # Each waits for the writer for some seconds; a look that takes longer than that says nothing.
        wait_until(self.is_answered_while_it_reads)

    def is_answered_while_it_reads(self):
        told = []
        posting = threading.Thread(target=lambda: told.append(self.router.post("/config/reload")))
        posting.start()
        wait_until(lambda: is_open(self.router, self.router.path) or told)
        self.assertIn('"alive": true', self.router.admin("/healthz"))
        self.assertEqual(self.router.metric("backend_healthy"), 1)
        self.assertEqual(self.router.ids(), ["a"])
        is_answered = not told
        posting.join(PATIENCE)
        self.assertEqual(told[0][0], 409)
        return is_answered

    def test_live_options_hold_from_the_next_request_on(self):
        key = "sk-" + "x" * 40
        settings = ("api_keys:\n  - {name: somebody, sha256: '%s'}\nlimits: {body_bytes: 1KiB}\n"
                    "routing: {expose_decision: true}\n" % hashlib.sha256(key.encode()).hexdigest())
        with self.router.client() as kept:
            self.assertIn(b"200 OK", self.exchange(kept, b""))
            self.assertEqual(self.router.reload(entries(("a", self.a)) + settings)[0], 200)
            wait_until(lambda: b"401 " in self.router.ask())
            self.assertIn(b" 401 ", self.exchange(kept, b""))
        shown = b"Authorization: Bearer %s\r\n" % key.encode()
        with self.router.client() as client:
            self.assertIn(b"X-Prefix-Router-Decision: backend=a", self.exchange(client, shown))
            self.assertNotIn(key.encode(), self.a.heads[-1], "with keys of its own the router keeps them to itself")
            self.assertIn(b" 413 ", self.exchange(client, shown, b"x" * 2000))
        self.assertEqual(self.router.reload(entries(("a", self.a)))[0], 200)
        wait_until(lambda: b"200 OK" in self.router.ask())
        wait_until(lambda: "somebody" not in self.router.admin("/metrics"))

    def exchange(self, client, fields, body=b""):
        client.sendall(b"POST /x HTTP/1.1\r\nHost: r\r\nContent-Length: %d\r\n%s\r\n%s" % (len(body), fields, body))
        head, rest = read_until(client, b"", b"\r\n\r\n")
        size = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        while len(rest) < size:
            rest += client.recv(65536)
        return head

    def test_health_probes_follow(self):
        probed = threading.Event()

        def script(connection, head, body):
            if head.startswith(b"GET /alive "):
                probed.set()
            answer(connection, b"ok")

        self.a.script = script
        self.assertEqual(self.router.reload(entries(("a", self.a)) + "health: {path: /alive, interval: 100ms}\n")[0], 200)
        self.assertTrue(probed.wait(PATIENCE))

    def test_running_answers_end_at_a_backend_that_leaves(self):
        with running_stream(self.router, self.a) as (client, finish):
            self.assertEqual(self.router.reload(entries(("b", self.b)))[1]["backends"]["removed"], ["a"])
            self.assertEqual(self.router.ids(), ["a", "b"])
            self.assertIn(b"200 OK", self.router.ask())
            self.assertEqual(len(self.a.heads), 1)
            finish.set()
            self.assertTrue(read_until(client, b"", b"0\r\n\r\n"))
        wait_until(lambda: self.router.ids() == ["b"])
        wait_until(lambda: 'backend="a"' not in self.router.admin("/metrics"))


class Knowledge(unittest.TestCase):
    def test_of_prefixes_and_counts_stays_over_a_reload(self):
        backends = [("a", Backend()), ("b", Backend()), ("c", Backend())]
        text = entries(*backends) + "routing: {expose_decision: true}\n"
        router = Reloadable(text, 3)
        self.addCleanup(router.end)
        prompts = [json.dumps({"model": "m", "messages": [{"role": "user", "content": "%d %s" % (i, "sky " * 2000)}]})
                   for i in range(10)]

        def ask(prompt):
            request = urllib.request.Request("http://127.0.0.1:%d/v1/chat/completions" % router.port, prompt.encode())
            with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
                reply.read()
                return reply.headers["X-Prefix-Router-Decision"]

        for prompt in prompts:
            ask(prompt)
        warm = [ask(prompt) for prompt in prompts]
        self.assertTrue(all("reason=warm" in decision for decision in warm), warm)
        wait_until(lambda: router.metric("requests_total") == 20)
        for reload in (router.hang_up, lambda: router.post("/config/reload")):
            reload()
            self.assertEqual([ask(prompt) for prompt in prompts], warm)
        wait_until(lambda: router.metric("requests_total") == 40)


class ByWatching(unittest.TestCase):
    def setUp(self):
        self.a, self.b = Backend(), Backend()
        self.watch = "reload: {watch: true}\n"
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def test_a_file_that_is_replaced_is_seen(self):
        router = Reloadable(entries(("a", self.a)) + self.watch, 1)
        self.addCleanup(router.end)
        router.write(entries(("b", self.b)) + self.watch)
        wait_until(lambda: router.ids() == ["b"])
        router.says(b"a file has changed: ")

    def test_a_configmap_that_is_switched_is_seen(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        port, admin_port = free_port(), free_port()
        top = "listen: '127.0.0.1:%d'\nadmin: 127.0.0.1:%d\n" % (port, admin_port)

        def publish(version, text):
            """As kubelet does: a folder per version, and a link that is switched in one step."""
            os.mkdir(os.path.join(folder.name, version))
            with open(os.path.join(folder.name, version, "router.yaml"), "w") as file:
                file.write(top + text + self.watch)
            os.symlink(version, os.path.join(folder.name, "..next"))
            os.replace(os.path.join(folder.name, "..next"), os.path.join(folder.name, "..data"))

        publish("..one", entries(("a", self.a)))
        path = os.path.join(folder.name, "router.yaml")
        os.symlink("..data/router.yaml", path)
        router = Reloadable.__new__(Reloadable)
        router.port, router.admin_port, router.folder = port, admin_port, folder
        router.launch(path)
        self.addCleanup(router.end)
        wait_until(lambda: router.ids() == ["a"])
        publish("..two", entries(("b", self.b)))
        wait_until(lambda: router.ids() == ["b"])


    def test_what_is_written_during_the_start_is_seen_after_it(self):
        folder = self.folder.name
        secret, pipe, path = (os.path.join(folder, name) for name in ("secret", "pipe", "router.yaml"))
        os.mkfifo(pipe)
        writer = os.fdopen(os.open(pipe, os.O_RDWR), "wb", 0)
        self.addCleanup(writer.close)
        router = Reloadable.__new__(Reloadable)
        router.port, router.admin_port, router.folder = free_port(), free_port(), self.folder

        def write(file, text):
            with open(file + ".next", "w") as next:
                next.write(text)
            os.replace(file + ".next", file)

        def guarded(name, backend, file):
            return "  - {id: %s, url: '%s', authorization: 'file:%s'}\n" % (name, backend.url, file)

        top = "listen: '127.0.0.1:%d'\nadmin: 127.0.0.1:%d\n" % (router.port, router.admin_port) + self.watch
        one = guarded("a", self.a, secret)
        write(secret, "Bearer first\n")
        write(path, top + "backends:\n" + one + guarded("b", self.b, pipe))
        router.begin(path)
        self.addCleanup(router.end)
        wait_until(lambda: is_open(router, pipe))  # the file and the first secret are read
        write(secret, "Bearer second\n")
        write(path, top + "backends:\n" + one)
        writer.write(b"Bearer x\n")
        writer.close()
        wait_until(lambda: b"serving on" in router.text())
        wait_until(lambda: router.ids() == ["a"])
        wait_until(lambda: b"200 OK" in router.ask() and b"Bearer second" in self.a.heads[-1])

    def test_what_is_written_during_a_reload_is_seen_after_it(self):
        secret = os.path.join(self.folder.name, "secret")
        os.mkfifo(secret)
        writer = os.open(secret, os.O_RDWR)
        self.addCleanup(os.close, writer)
        router = Reloadable(entries(("a", self.a)) + self.watch, 1)
        self.addCleanup(router.end)
        guarded = "  - {id: b, url: '%s', authorization: 'file:%s'}\n" % (self.b.url, secret)
        router.write(entries(("a", self.a)) + guarded + self.watch)
        wait_until(lambda: is_open(router, secret))
        router.write(entries(("b", self.b)) + self.watch)
        os.write(writer, b"Bearer x\n")
        wait_until(lambda: router.ids() == ["b"])

    def test_a_file_that_comes_after_the_configuration_that_names_it_is_waited_for(self):
        secret = os.path.join(self.folder.name, "secret")
        router = Reloadable(entries(("a", self.a)) + self.watch, 1)
        self.addCleanup(router.end)
        guarded = "  - {id: b, url: '%s', authorization: 'file:%s'}\n" % (self.b.url, secret)
        router.write(entries(("a", self.a)) + guarded + self.watch)
        wait_until(lambda: router.metric("config_last_reload_successful") == 0)
        with open(secret, "w") as file:
            file.write("Bearer x\n")
        wait_until(lambda: router.ids() == ["a", "b"])
        self.assertEqual(router.metric("config_last_reload_successful"), 1)


class UnderLoad(unittest.TestCase):
    def test_a_thousand_reloads_fail_no_request_and_nothing_grows(self):
        a, b, c = Backend(), Backend(), Backend()
        sets = (entries(("a", a), ("c", c)), entries(("b", b), ("c", c)))
        router = Reloadable(sets[0], 2)
        self.addCleanup(router.end)
        is_over = threading.Event()
        failures, served = [], [0] * 4

        def load(place):
            with router.client() as client:
                while not is_over.is_set():
                    client.sendall(b"GET /x HTTP/1.1\r\nHost: r\r\n\r\n")
                    head, rest = read_until(client, b"", b"\r\n\r\n")
                    while len(rest) < 2:
                        rest += client.recv(65536)
                    if b" 200 OK" not in head or rest != b"ok":
                        failures.append(head + rest)
                    served[place] += 1

        def guarded(place):
            try:
                load(place)
            except OSError as error:
                failures.append(error)

        clients = [threading.Thread(target=guarded, args=(place,)) for place in range(4)]
        for client in clients:
            client.start()
        self.reload(router, sets, 100)
        before = self.size(router)
        self.reload(router, sets, RELOADS)
        is_over.set()
        for client in clients:
            client.join(PATIENCE)
        self.assertEqual(failures, [])
        self.assertTrue(all(served))
        self.assertEqual(router.metric("config_reload_failures_total"), 0)
        wait_until(lambda: router.ids() == ["b", "c"])
        wait_until(lambda: self.size(router)[0] == before[0])
        wait_until(lambda: self.size(router)[1] <= before[1] + 8)

    def reload(self, router, sets, times):
        for i in range(times):
            status, told = router.reload(sets[i % 2])
            self.assertEqual(status, 200, told)

    def size(self, router):
        """Series that are exposed, and descriptors, once what was removed is gone."""
        def named():
            return sorted(set(re.findall('backend="([^"]+)"', router.admin("/metrics"))))

        wait_until(lambda: len(router.ids()) == 2 and named() == router.ids())
        series = [line for line in router.admin("/metrics").splitlines() if "backend=" in line]
        return len(series), len(os.listdir("/proc/%d/fd" % router.process.pid))


class QuickStart(unittest.TestCase):
    def test_has_no_file_to_read_again(self):
        backend, admin = Backend(), free_port()
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen([ROUTER, "-b", backend.url, "-l", "127.0.0.1:0", "--admin", "127.0.0.1:%d" % admin],
                                       stdout=output, stderr=output)
            self.addCleanup(process.wait)
            self.addCleanup(process.terminate)
            wait_until(lambda: socket.create_connection(("127.0.0.1", admin)).close() is None)
            process.send_signal(signal.SIGHUP)

            def text():
                output.seek(0)
                return output.read()

            wait_until(lambda: b"SIGHUP: no configuration file to be read again" in text())


if __name__ == "__main__":
    unittest.main()
