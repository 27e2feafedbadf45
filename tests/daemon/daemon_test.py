#!/usr/bin/env python3
"""The daemon as a process: signals in every phase, descriptors, secrets in its output, starts that must fail.

usage: daemon_test.py ROUTER_BINARY

Scripted backends and raw clients on loopback; Python's standard library only.
"""
import hashlib
import json
import os
import re
import resource
import signal
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import exposition  # noqa: E402
import loopback  # noqa: E402
from loopback import free_port  # noqa: E402

ROUTER = sys.argv.pop(1)
PATIENCE = 60
# On a loaded machine a scripted backend takes longer over a probe than engines may by default.
PATIENT_PROBES = "health: {timeout: 30s}\n"
PROBES = re.compile(rb"GET /(health|ping|metrics|props|slots|v1/models|get_server_info) ")


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as held:
            held.bind(("::1", 0))
        return True
    except OSError:
        return False


def is_sanitized():
    with open(ROUTER, "rb") as file:
        data = file.read()
    return b"__asan_init" in data or b"__tsan_init" in data


class Backend:
    """Calls script(connection, head, body) per request; a script that returns False ends the connection."""

    def __init__(self, script=None):
        self.script = script or (lambda c, head, body: answer(c, b"ok"))
        self.heads = []
        self.pages = {}  # what a probe or scrape of a path gets, where it is not the usual
        self.came, self.left = threading.Event(), threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.url = "http://127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection = self.listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        left = b""
        with connection:
            try:
                while True:
                    head, left = read_until(connection, left, b"\r\n\r\n")
                    size = int((re.search(rb"(?i)\r\ncontent-length: (\d+)", head) or [0, 0])[1])
                    while len(left) < size:
                        left += receive(connection)
                    body, left = left[:size], left[size:]
                    if PROBES.match(head):
                        page = self.pages.get(head.split()[1].decode(), b"" if head.startswith(b"GET /health ") else None)
                        answer(connection, page or b"", b"404 No" if page is None else b"200 OK")
                        continue
                    self.heads.append(head)
                    self.came.set()
                    if self.script(connection, head, body) is False:
                        return
            except OSError:
                self.left.set()


def receive(connection):
    data = connection.recv(65536)
    if not data:
        raise ConnectionError("ended")
    return data


def read_until(connection, data, mark):
    while mark not in data:
        data += receive(connection)
    return data.split(mark, 1)[0] + mark, data.split(mark, 1)[1]


def answer(connection, body, status=b"200 OK", fields=b""):
    connection.sendall(b"HTTP/1.1 %s\r\nContent-Length: %d\r\n%s\r\n%s" % (status, len(body), fields, body))


class Router:
    """A daemon. `launcher` is a command that ends as the router's; it and `arguments` say how it is started."""

    def __init__(self, backends, settings="", descriptors=None, are_up=True, host="127.0.0.1", port=None,
                 admin_port=None, arguments=(), launcher=(), pass_fds=()):
        self.port, self.admin_port = port or free_port(), admin_port or free_port()
        self.folder = tempfile.TemporaryDirectory()
        path = os.path.join(self.folder.name, "router.yaml")
        with open(path, "w") as file:
            file.write("listen: '%s:%d'\nadmin: 127.0.0.1:%d\n" % (host, self.port, self.admin_port))
            file.write(("" if "health:" in settings else PATIENT_PROBES) + "backends:\n")
            file.write("".join("  - url: %s\n" % getattr(backend, "url", backend) for backend in backends) + settings)
        self.output = open(os.path.join(self.folder.name, "output"), "w+b")

        def limit():
            if descriptors:
                resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

        self.process = subprocess.Popen([*launcher, ROUTER, "--config", path, *arguments], stdout=self.output,
                                        stderr=self.output, preexec_fn=limit, pass_fds=pass_fds)
        wait_until(lambda: b"serving on" in self.text() or self.process.poll() is not None)
        if are_up:
            wait_until(lambda: self.metric("backend_healthy") == len(backends))

    def text(self):
        with open(self.output.name, "rb") as file:
            return file.read()

    def client(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def accepts(self):
        try:
            self.client().close()
            return True
        except OSError:
            return False

    def ask(self, request=b"GET /x HTTP/1.1\r\nHost: r\r\nConnection: close\r\n\r\n"):
        with self.client() as client:
            client.sendall(request)
            return read_to_end(client)

    def admin(self, path):
        with urllib.request.urlopen("http://127.0.0.1:%d%s" % (self.admin_port, path), timeout=PATIENCE) as reply:
            return reply.read().decode()

    def metric(self, name):
        return exposition.metric(self.admin("/metrics"), name)

    def end(self, sent=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(sent)
        try:
            return self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self.process.wait()
            self.output.close()


def read_to_end(client):
    data = b""
    try:
        while True:
            piece = client.recv(65536)
            if not piece:
                return data
            data += piece
    except ConnectionResetError:
        return data


def wait_until(holds):
    loopback.wait_until(holds, patience=PATIENCE)


def make_certificate(folder, name):
    """A self-signed certificate for localhost; returns the paths of certificate and key."""
    certificate, key = (os.path.join(folder, name + end) for end in (".pem", ".key"))
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=" + name,
                    "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True, capture_output=True)
    return certificate, key


class Tls(unittest.TestCase):
    """With Python's TLS client: the certificate's files, renewed under the running daemon."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.certificate, self.key = make_certificate(self.folder.name, "first")
        self.router = Router([Backend()], "tls:\n  certificate: %s\n  key: %s\n" % (self.certificate, self.key))

    def connect(self, authority):
        context = ssl.create_default_context(cafile=authority)
        return context.wrap_socket(self.router.client(), server_hostname="localhost")

    def ask(self, client):
        client.sendall(b"GET /x HTTP/1.1\r\nHost: r\r\n\r\n")
        return read_until(client, b"", b"\r\n\r\nok")[0]

    def hang_up(self, said):
        self.router.process.send_signal(signal.SIGHUP)
        wait_until(lambda: said in self.router.text())

    def test_a_renewed_certificate_is_taken_and_a_bad_one_is_not(self):
        first = os.path.join(self.folder.name, "kept.pem")
        shutil.copy(self.certificate, first)
        client = self.connect(first)
        self.assertIn(b"200 OK", self.ask(client))
        certificate, key = make_certificate(self.folder.name, "second")
        shutil.copy(key, self.key)
        self.hang_up(b"is not the key of the certificate")
        self.assertIn(b"200 OK", self.ask(self.connect(first)))
        shutil.copy(certificate, self.certificate)
        self.hang_up(b"read again, with certificates and credentials")
        self.assertIn(b"200 OK", self.ask(self.connect(certificate)))
        with self.assertRaises(ssl.SSLCertVerificationError):
            self.connect(first)
        self.assertIn(b"200 OK", self.ask(client))
        self.assertEqual(self.router.end(), 0)

    def test_check_opens_the_files(self):
        path = os.path.join(self.folder.name, "router.yaml")
        with open(path, "w") as file:
            file.write("tls: {certificate: %s, key: /nowhere.key}\nbackends:\n  - url: http://a:1\n"
                       % self.certificate)
        done = subprocess.run([ROUTER, "check", "--config", path], capture_output=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"tls.key: /nowhere.key: cannot be read", done.stderr)
        self.router.end()


class Signals(unittest.TestCase):
    def setUp(self):
        self.finish = threading.Event()
        self.backend = Backend(self.script)

    def script(self, connection, head, body):
        if b"/stream" in head:
            connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
            self.finish.wait(PATIENCE)
            connection.sendall(b"1\r\nb\r\n0\r\n\r\n")
        elif b"/late" in head:
            self.finish.wait(PATIENCE)
            answer(connection, b"late")
        elif b"/endless" in head:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n")
            while True:
                connection.sendall(b"x" * 65536)
        else:
            answer(connection, b"ok")

    def stream(self, router):
        client = router.client()
        client.sendall(b"GET /stream HTTP/1.1\r\nHost: r\r\n\r\n")
        read_until(client, b"", b"1\r\na\r\n")
        return client

    def test_hang_up_is_told_and_survived(self):
        router = Router([self.backend])
        client = self.stream(router)
        router.process.send_signal(signal.SIGHUP)
        wait_until(lambda: b"SIGHUP" in router.text())
        self.finish.set()
        self.assertTrue(read_until(client, b"", b"0\r\n\r\n"), "the open stream is not cut")
        self.assertIn(b"200 OK", router.ask())
        client.close()
        self.assertEqual(router.end(), 0)

    def test_terminate_lets_every_phase_finish(self):
        router = Router([self.backend])
        idle, half_head, half_body, late = (router.client() for _ in range(4))
        streaming = self.stream(router)
        half_head.sendall(b"GET /x HTTP/1.1\r\nHo")
        half_body.sendall(b"POST /x HTTP/1.1\r\nHost: r\r\nContent-Length: 5\r\n\r\nhe")
        late.sendall(b"GET /late HTTP/1.1\r\nHost: r\r\n\r\n")
        wait_until(lambda: router.metric("requests_in_flight") == 2 and router.metric("connections") == 5)
        router.process.send_signal(signal.SIGTERM)
        self.assertEqual(read_to_end(idle), b"")
        wait_until(lambda: not router.accepts())
        half_head.sendall(b"st: r\r\n\r\n")
        half_body.sendall(b"llo")
        for client in (half_head, half_body):
            reply = read_to_end(client)
            self.assertIn(b"200 OK", reply)
            self.assertIn(b"Connection: close", reply)
        self.finish.set()
        self.assertTrue(read_to_end(late).endswith(b"late"))
        self.assertTrue(read_to_end(streaming).endswith(b"1\r\nb\r\n0\r\n\r\n"))
        self.assertEqual(router.process.wait(PATIENCE), 0)
        self.assertEqual(router.end(), 0)

    def test_terminate_cuts_after_the_grace(self):
        router = Router([self.backend], "timeouts:\n  drain_grace: 500ms\n")
        streaming = self.stream(router)
        stuck = router.client()
        stuck.sendall(b"GET /endless HTTP/1.1\r\nHost: r\r\n\r\n")
        wait_until(lambda: router.metric("requests_in_flight") == 2)
        self.assertEqual(router.end(), 0)
        self.assertFalse(read_to_end(streaming).endswith(b"0\r\n\r\n"))
        self.finish.set()

    def test_a_second_signal_ends_at_once(self):
        router = Router([self.backend], "timeouts:\n  drain_grace: 1h\n")
        streaming = self.stream(router)
        router.process.send_signal(signal.SIGTERM)
        wait_until(lambda: b"draining" in router.text())
        self.assertEqual(router.end(), 0)
        self.assertFalse(read_to_end(streaming).endswith(b"0\r\n\r\n"))
        self.finish.set()

    def test_settling_accepts_while_it_says_not_ready(self):
        router = Router([self.backend], "timeouts:\n  drain_settle: 10m\n")
        router.process.send_signal(signal.SIGTERM)
        wait_until(lambda: b"draining" in router.text())
        with self.assertRaises(urllib.error.HTTPError) as refused:
            router.admin("/readyz")
        self.assertEqual(refused.exception.code, 503)
        self.assertIn(b"Connection: close", router.ask(b"GET /x HTTP/1.1\r\nHost: r\r\n\r\n"))
        self.assertEqual(router.end(), 0)


class Descriptors(unittest.TestCase):
    LIMIT = 64

    def crowd(self, port, count):
        clients = []
        for _ in range(count):
            client = socket.socket()
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", port))
            clients.append(client)
        return clients

    def test_too_many_clients_wait_and_nothing_spins(self):
        router = Router([Backend()], "threads: 1\n", descriptors=self.LIMIT)
        crowd = self.crowd(router.port, 200)
        wait_until(lambda: router.metric("connections") >= self.LIMIT / 8)
        before = self.cpu_seconds(router)
        time.sleep(1)
        self.assertLess(self.cpu_seconds(router) - before, 0.3)
        for client in crowd:
            client.close()
        self.assertIn(b"200 OK", router.ask())
        self.assertEqual(router.end(), 0)

    def test_idle_backend_connections_make_room_for_new_ones(self):
        pooled = Backend()
        closing = Backend(lambda c, head, body: answer(c, b"ok", fields=b"Connection: close\r\n") or False)
        router = Router([pooled, closing], "threads: 1\nrouting:\n  strategy: round_robin\nhealth:\n  interval: 1h\n"
                        "  scrape_interval: 0s\ntimeouts:\n  backend_idle: 1h\n", descriptors=self.LIMIT)
        with router.client() as client:
            def ask():
                client.sendall(b"GET /x HTTP/1.1\r\nHost: r\r\n\r\n")
                return read_until(client, b"", b"\r\n\r\nok")[0]

            self.assertIn(b"200 OK", ask() + ask())
            crowd = []
            while self.open_descriptors(router) < self.LIMIT:  # none may be left waiting to be accepted
                crowd += self.crowd(router.admin_port, 1)
                time.sleep(0.05)
            for _ in range(4):
                self.assertIn(b"200 OK", ask())
            for other in crowd:
                other.close()
        self.assertEqual(len(closing.heads), 3, "half of them needed a new connection")
        self.assertEqual(router.end(), 0)

    def test_idle_backend_connections_of_other_threads_make_room_too(self):
        router = Router([Backend()], "threads: 2\nhealth:\n  interval: 1h\n  scrape_interval: 0s\n"
                        "timeouts:\n  backend_idle: 1h\n", descriptors=self.LIMIT)
        clients = [router.client() for _ in range(8)]  # nearly always on both threads
        wait_until(lambda: router.metric("connections") == len(clients))
        crowd = []
        for client in clients:
            client.sendall(b"GET /x HTTP/1.1\r\nHost: r\r\n\r\n")
            self.assertIn(b"200 OK", read_until(client, b"", b"\r\n\r\n")[0])
            while self.open_descriptors(router) < self.LIMIT:  # all are taken from the first answer on
                crowd += self.crowd(router.admin_port, 1)
                time.sleep(0.05)
        for other in clients + crowd:
            other.close()
        self.assertEqual(router.end(), 0)

    def test_idle_backend_connections_make_room_for_clients(self):
        backends = [Backend(), Backend()]
        router = Router(backends, "threads: 1\nrouting:\n  strategy: round_robin\nhealth:\n"
                        "  interval: 1h\n  scrape_interval: 0s\ntimeouts:\n  backend_idle: 1h\n",
                        descriptors=self.LIMIT)
        self.assertIn(b"200 OK", router.ask())
        self.assertIn(b"200 OK", router.ask())
        wait_until(lambda: router.metric("connections") == 0)
        for backend in backends:
            backend.left.clear()
        crowd = []
        while self.open_descriptors(router) < self.LIMIT:
            crowd += self.crowd(router.admin_port, 1)
            time.sleep(0.05)
        self.assertIn(b"200 OK", router.ask())
        for backend in backends:
            self.assertTrue(backend.left.wait(PATIENCE), "its idle connection is closed")
        for other in crowd:
            other.close()
        self.assertEqual(router.end(), 0)

    def test_no_descriptor_for_a_backend_is_not_the_backends_fault(self):
        backend = Backend(lambda c, head, body: answer(c, b"ok", fields=b"Connection: close\r\n") or False)
        router = Router([backend], "threads: 1\nhealth:\n  interval: 1h\n  scrape_interval: 0s\n"
                        "  passive_failures: 1\n", descriptors=self.LIMIT)
        with router.client() as client:
            client.sendall(b"GET /x HT")
            wait_until(lambda: router.metric("connections") == 1)
            crowd = self.crowd(router.admin_port, 2 * self.LIMIT)
            wait_until(lambda: self.open_descriptors(router) >= self.LIMIT)
            client.sendall(b"TP/1.1\r\nHost: r\r\n\r\n")
            head = read_until(client, b"", b"\r\n\r\n")[0]
            self.assertIn(b"503 Service Unavailable", head)
            self.assertIn(b"Retry-After", head)
            for other in crowd:
                other.close()
        wait_until(lambda: router.metric("backend_healthy") == 1)
        self.assertEqual(router.metric("backend_failures_total"), 0)
        self.assertIn(b"200 OK", router.ask())
        self.assertEqual(router.end(), 0)

    @staticmethod
    def open_descriptors(router):
        return len(os.listdir("/proc/%d/fd" % router.process.pid))

    @staticmethod
    def cpu_seconds(router):
        with open("/proc/%d/stat" % router.process.pid) as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Secrets(unittest.TestCase):
    MARKS = [b"bearer-mark", b"key-mark", b"query-mark", b"cookie-mark", b"prompt-mark", b"answer-mark", b"error-mark"]

    def test_stay_out_of_logs_metrics_and_admin_pages(self):
        def script(connection, head, body):
            if b"/dies" in head:
                return False
            if b"/error" in head:
                answer(connection, b'{"error": "error-mark"}', b"500 Error", b"Content-Type: application/json\r\n")
            elif b"/garbage" in head:
                connection.sendall(b"answer-mark is no HTTP\r\n\r\n")
                return False
            else:
                answer(connection, b'{"choices": [{"message": {"content": "answer-mark"}}]}', b"200 OK",
                       b"Content-Type: application/json\r\n")
            return True

        for form in ("text", "json"):
            backend = Backend(script)
            router = Router([backend], "log:\n  level: trace\n  format: %s\nhealth:\n  passive_failures: 1000\n" % form)
            body = b'{"model": "m", "messages": [{"role": "user", "content": "prompt-mark"}]}'
            for path in (b"/v1/chat/completions", b"/dies", b"/error", b"/garbage"):
                router.ask(b"POST " + path + b"?key=query-mark HTTP/1.1\r\nHost: r\r\nX-Request-Id: id-%s\r\n"
                           b"Authorization: Bearer bearer-mark\r\nX-Api-Key: key-mark\r\nCookie: a=cookie-mark\r\n"
                           b"Connection: close\r\nContent-Length: %d\r\n\r\n%s" % (path[1:], len(body), body))
            router.ask(b"GET /bad HTTP/1.1\r\nHost: r\r\nAuthorization: Bearer bearer-mark\r\nbroken line\r\n\r\n")
            router.ask(b"GET /forged%0d%0aline\x22 HTTP/1.1\r\nHost: r\r\nConnection: close\r\n\r\n")
            pages = "".join(router.admin(page) for page in ("/metrics", "/backends", "/decisions", "/config"))
            self.assertEqual(router.end(), 0)
            with open(router.output.name, "rb") as file:
                output = file.read()
            for mark in self.MARKS:
                self.assertNotIn(mark, output)
                self.assertNotIn(mark, pages.encode())
            for path in (b"v1/chat/completions", b"dies", b"error", b"garbage"):
                lines = [line for line in output.splitlines() if b"id-" + path in line]
                self.assertEqual(len(lines), 1, path)
                if form == "json":
                    self.assertIn("backend", json.loads(lines[0]))


    def test_keys_are_shown_by_their_names(self):
        hashed = subprocess.run([ROUTER, "hash-key"], input=b"key-mark\n", capture_output=True, timeout=PATIENCE)
        self.assertEqual(hashed.stdout.decode().strip(), hashlib.sha256(b"key-mark").hexdigest())
        backend = Backend()
        router = Router([backend], "log:\n  level: trace\napi_keys:\n  - name: team-a\n    sha256: '%s'\n"
                        % hashed.stdout.decode().strip())
        asked = b"GET /x HTTP/1.1\r\nHost: r\r\nConnection: close\r\n"
        self.assertIn(b"200 OK", router.ask(asked + b"Authorization: Bearer key-mark\r\n\r\n"))
        self.assertIn(b" 401 ", router.ask(asked + b"Authorization: Bearer other-mark\r\n\r\n"))
        self.assertIn(b" 401 ", router.ask(asked + b"\r\n"))
        pages = "".join(router.admin(page) for page in ("/metrics", "/backends", "/decisions", "/config"))
        self.assertEqual(router.end(), 0)
        with open(router.output.name, "rb") as file:
            output = file.read()
        for mark in (b"key-mark", b"other-mark"):
            self.assertNotIn(mark, output + pages.encode())
            self.assertNotIn(mark, b"".join(backend.heads))
        self.assertEqual(output.count(b"api_key=team-a"), 1)
        self.assertIn('api_key_requests_total{key="team-a"} 1', pages)


class Starts(unittest.TestCase):
    def run_with(self, text, limit=None):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(text)
            file.flush()
            done = subprocess.run([ROUTER, "--config", file.name], capture_output=True, text=True, timeout=PATIENCE,
                                  preexec_fn=limit)
            return done.returncode, done.stdout + done.stderr

    def test_with_a_bad_file_fail_and_name_line_and_key(self):
        code, output = self.run_with("backends:\n  - url: http://127.0.0.1:1\nrooting:\n  x: 1\n")
        self.assertEqual(code, 2)
        self.assertRegex(output, r":3: unknown key 'rooting'.*did you mean 'routing'")

    def test_on_a_port_in_use_fail_and_name_it(self):
        with socket.create_server(("127.0.0.1", 0)) as held:
            port = held.getsockname()[1]
            for listener in ("listen: 127.0.0.1:%d\nadmin: off\n", "listen: 127.0.0.1:0\nadmin: 127.0.0.1:%d\n"):
                code, output = self.run_with(listener % port + "backends:\n  - url: http://127.0.0.1:1\n")
                self.assertEqual(code, 1)
                self.assertRegex(output, r"cannot listen on 127.0.0.1(:| port )%d: .*(in use|uses)" % port)

    @unittest.skipIf(is_sanitized(), "sanitizers need terabytes of addresses")
    def test_without_room_for_its_threads_fail_and_say_so(self):
        def limit_memory():
            resource.setrlimit(resource.RLIMIT_STACK, (8 << 20, 8 << 20))
            resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))

        def limit_descriptors():
            resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60))

        # Descriptors enough for the listening sockets, not for the loops.
        for limit, threads, reason in ((limit_memory, 1024, "temporarily unavailable"),
                                       (limit_descriptors, 30, "open files")):
            code, output = self.run_with("listen: 127.0.0.1:0\nadmin: off\nthreads: %d\nbackends:\n"
                                         "  - url: http://127.0.0.1:1\n" % threads, limit)
            self.assertEqual(code, 1, output)
            self.assertRegex(output, "cannot start: .*%s.*; set threads lower" % reason)

    @unittest.skipUnless(has_ipv6(), "this machine has no ::1")
    def test_on_an_ipv6_address_tell_it_in_brackets(self):
        router = Router([Backend()], host="[::1]")
        self.assertIn(b"serving on [::1]:%d with" % router.port, router.text())
        with socket.create_connection(("::1", router.port), timeout=PATIENCE) as client:
            client.sendall(b"GET /x HTTP/1.1\r\nHost: r\r\nConnection: close\r\n\r\n")
            self.assertIn(b"200 OK", read_to_end(client))
        self.assertEqual(router.end(), 0)

    def test_with_unreachable_backends_succeed_and_say_not_ready(self):
        held = socket.socket()  # bound, not listening: connecting is refused
        held.bind(("127.0.0.1", 0))
        router = Router(["http://127.0.0.1:%d" % held.getsockname()[1]], are_up=False)
        wait_until(lambda: router.metric("panic") == 1)
        with self.assertRaises(urllib.error.HTTPError) as refused:
            router.admin("/readyz")
        self.assertEqual(refused.exception.code, 503)
        self.assertRegex(router.ask(), rb"503 (.|\r\n)*Retry-After")
        held.close()
        self.assertEqual(router.end(), 0)


if __name__ == "__main__":
    unittest.main(warnings="ignore")
