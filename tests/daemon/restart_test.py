#!/usr/bin/env python3
"""Ending, dying and being replaced: drain with many streams, kill, socket activation, take-over under load.

usage: restart_test.py ROUTER_BINARY
"""
import os
import signal
import socket
import ssl
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

from daemon_test import PATIENCE, ROUTER, Backend, Router, answer, free_port, make_certificate, read_to_end, read_until, wait_until

ONE_ANSWER = b"GET /x HTTP/1.1\r\nHost: r\r\nConnection: close\r\n\r\n"
HELLO = b"prefix-router take-over 1"


def stop(router):
    """Stops the process, as a debugger does, and returns when all of its threads have stopped."""
    router.process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, router.process.pid, os.WSTOPPED)


class StreamingBackend(Backend):
    """/stream gives its first piece at once and its last when `finish` is set; all else "ok"."""

    def __init__(self):
        self.finish = threading.Event()
        super().__init__(self.stream)

    def stream(self, connection, head, body):
        if b"/stream" not in head:
            answer(connection, b"ok")
            return
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
        self.finish.wait(PATIENCE)
        connection.sendall(b"1\r\nb\r\n0\r\n\r\n")


def open_stream(router):
    client = router.client()
    client.sendall(b"GET /stream HTTP/1.1\r\nHost: r\r\n\r\n")
    read_until(client, b"", b"1\r\na\r\n")
    return client


class Ends(unittest.TestCase):
    STREAMS = 200

    def setUp(self):
        self.backend = StreamingBackend()

    def test_terminate_finishes_two_hundred_open_streams(self):
        router = Router([self.backend], "timeouts:\n  drain_grace: 10m\n")
        streams = [open_stream(router) for _ in range(self.STREAMS)]
        router.process.send_signal(signal.SIGTERM)
        wait_until(lambda: not router.accepts())
        self.backend.finish.set()
        for stream in streams:
            self.assertTrue(read_to_end(stream).endswith(b"1\r\nb\r\n0\r\n\r\n"))
        self.assertEqual(router.process.wait(PATIENCE), 0)
        self.assertEqual(router.end(), 0)

    def test_terminate_serves_what_is_queued_and_what_was_just_opened(self):
        router = Router([self.backend], "threads: 1\n")
        silent = [router.client() for _ in range(20)]  # open, and their first request is still to come
        wait_until(lambda: router.metric("connections") == len(silent))
        stop(router)
        queued = [router.client() for _ in range(20)]
        for client in queued:
            client.sendall(ONE_ANSWER)
        router.process.send_signal(signal.SIGTERM)
        router.process.send_signal(signal.SIGCONT)
        wait_until(lambda: b"draining" in router.text())
        for client in silent:
            client.sendall(ONE_ANSWER)
        for client in queued + silent:
            self.assertIn(b"200 OK", read_to_end(client))
        self.assertEqual(router.end(), 0)

    def test_terminate_waits_for_the_handshake_of_what_was_just_opened(self):
        with tempfile.TemporaryDirectory() as folder:
            certificate, key = make_certificate(folder, "router")
            router = Router([self.backend], "tls:\n  certificate: %s\n  key: %s\n" % (certificate, key))
            context = ssl.create_default_context(cafile=certificate)
            client = context.wrap_socket(router.client(), server_hostname="localhost", do_handshake_on_connect=False)
            wait_until(lambda: router.metric("connections") == 1)
            router.process.send_signal(signal.SIGTERM)
            wait_until(lambda: not router.accepts())
            stop(router)  # the second that it has left does not pass meanwhile
            client.setblocking(False)
            with self.assertRaises(ssl.SSLWantReadError):
                client.do_handshake()
            router.process.send_signal(signal.SIGCONT)
            client.settimeout(PATIENCE)
            client.do_handshake()
            client.sendall(ONE_ANSWER)
            self.assertIn(b"200 OK", read_to_end(client))
            self.assertEqual(router.end(), 0)
            self.assertNotIn(b"no TLS with client", router.text())

    def test_kill_loses_its_own_connections_and_nothing_else(self):
        port = free_port()
        first = Router([self.backend], port=port)
        streams = [open_stream(first) for _ in range(20)]
        first.process.kill()
        first.process.wait()
        for stream in streams:
            self.assertFalse(read_to_end(stream).endswith(b"0\r\n\r\n"), "a cut stream looks cut")
        self.backend.finish.set()
        second = Router([self.backend], port=port)  # at once, on the same port
        self.assertIn(b"200 OK", second.ask())
        self.assertEqual(second.metric("requests_in_flight"), 0)
        first.end()
        self.assertEqual(second.end(), 0)


BECOME_ACTIVATED = """import os, sys
numbers = [int(n) for n in sys.argv[1].split(",") if n]
for i, number in enumerate(numbers):
    os.dup2(number, 100 + i)
for i in range(len(numbers)):
    os.dup2(100 + i, 3 + i)
os.environ.update(LISTEN_PID=str(os.getpid() + int(sys.argv[3])), LISTEN_FDS=sys.argv[4] or str(len(numbers)),
                  LISTEN_FDNAMES=sys.argv[2])
os.execv(sys.argv[5], sys.argv[5:])
"""


def activated(sockets, names, settings="", process_offset=0, arguments=(), count=""):
    """A router that finds `sockets` as its descriptors 3 and following, as a service manager leaves them. `count`: what it
    is told instead of their number."""
    numbers = [each.fileno() for each in sockets]
    return Router([Backend()], settings, are_up=False, pass_fds=numbers, arguments=arguments,
                  launcher=[sys.executable, "-c", BECOME_ACTIVATED, ",".join(map(str, numbers)), names,
                            str(process_offset), count])


class SocketActivation(unittest.TestCase):
    def test_serves_the_sockets_that_it_is_given(self):
        with socket.create_server(("127.0.0.1", 0)) as data, socket.create_server(("127.0.0.1", 0)) as admin, \
                socket.create_server(("127.0.0.1", 0)) as more:
            router = activated([data, admin, more], "router.socket:admin:more", "threads: 4\n")
            own_port, router.port, router.admin_port = router.port, *(s.getsockname()[1] for s in (data, admin))
            wait_until(lambda: router.metric("backend_healthy") == 1)
            for _ in range(20):
                self.assertIn(b"200 OK", router.ask())
            router.port = more.getsockname()[1]
            self.assertIn(b"200 OK", router.ask())
            router.port = own_port
            self.assertFalse(router.accepts(), "nothing is bound beside what was given")
            self.assertEqual(router.end(), 0)

    def test_leaves_alone_what_is_another_processs(self):
        with socket.create_server(("127.0.0.1", 0)) as data:
            router = activated([data], "x", process_offset=1)
            self.assertIn(b"200 OK", router.ask())
            self.assertEqual(router.end(), 0)

    def test_says_what_is_wrong_with_a_socket_that_does_not_listen(self):
        with socket.socket() as data:
            data.bind(("127.0.0.1", 0))
            router = activated([data], "x")
            self.assertIn(b"is no listening stream socket; use ListenStream=", router.text())
            self.assertEqual(router.end(), 1)

    def test_says_that_only_one_can_be_the_admin_listeners(self):
        with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
            router = activated([one, other], "admin:admin")
            self.assertIn(b"two sockets are named admin", router.text())
            self.assertEqual(router.end(), 1)

    def test_says_what_is_no_number_of_sockets(self):
        for count in ("-1", "1025", "some"):
            with self.subTest(count):
                router = activated([], "", count=count)
                self.assertIn(b"LISTEN_FDS: '%s' is no number" % count.encode(), router.text())
                self.assertEqual(router.end(), 1)


class Clients:
    """Clients that connect all the time, one request per connection or several; every failure is kept."""

    def __init__(self, port, count=6):
        self.port, self.failures, self.served = port, [], 0
        self.is_over = threading.Event()
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.run, args=(1 + i % 2 * 4,), daemon=True) for i in range(count)]
        for thread in self.threads:
            thread.start()

    def run(self, requests):
        while not self.is_over.is_set():
            try:
                self.converse(requests)
            except OSError as failure:
                with self.lock:
                    self.failures.append(repr(failure))

    def converse(self, requests):
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as client:
            left = b""
            for _ in range(requests):
                client.sendall(b"POST /x HTTP/1.1\r\nHost: r\r\nContent-Length: 2\r\n\r\nhi")
                head, left = read_until(client, left, b"\r\n\r\nok")
                if not head.startswith(b"HTTP/1.1 200 "):
                    raise OSError("answered " + head[:40].decode())
                with self.lock:
                    self.served += 1
                if b"\r\nConnection: close\r\n" in head:
                    return

    def wait_for_more(self, count):
        wanted = self.served + count
        wait_until(lambda: self.served >= wanted)

    def end(self):
        self.is_over.set()
        for thread in self.threads:
            thread.join(PATIENCE)
        return self.failures


class TakeOver(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.point = os.path.join(self.folder.name, "router.sock")
        self.backend = StreamingBackend()
        self.ports = {"port": free_port(), "admin_port": free_port()}

    def router(self, settings="", are_up=True):
        return Router([self.backend], settings + "log:\n  access: off\n", are_up=are_up,
                      arguments=["--take-over", self.point], **self.ports)

    def test_five_in_a_row_fail_no_client_and_cut_no_stream(self):
        routers = [self.router("threads: 3\n")]
        clients = Clients(routers[0].port)
        for threads in (1, 4, 2, 2, 3):
            stream = open_stream(routers[-1])
            clients.wait_for_more(50)
            routers.append(self.router("threads: %d\n" % threads))
            self.assertIn(b"process %d:" % routers[-2].process.pid, routers[-1].text())
            clients.wait_for_more(50)
            self.backend.finish.set()
            self.assertTrue(read_to_end(stream).endswith(b"b\r\n0\r\n\r\n"))
            self.assertEqual(routers[-2].process.wait(PATIENCE), 0, "it drains and ends by itself")
            self.backend.finish.clear()
        self.assertEqual(clients.end(), [])
        for router in routers[:-1]:
            router.end()
        self.assertEqual(routers[-1].end(), 0)
        self.assertFalse(os.path.exists(self.point))

    def test_serves_what_was_queued_at_the_one_before(self):
        old = self.router("threads: 2\n")
        held = self.ask_for_sockets()  # the newcomer's part, to know when the old one accepts no more
        stop(old)
        queued = [old.client() for _ in range(50)]
        for client in queued:
            client.sendall(ONE_ANSWER)
        held.sendall(b"ready")
        old.process.kill()  # the sockets live on in this process
        old.process.wait()
        new = self.adopt(held)
        for client in queued:
            self.assertIn(b"200 OK", read_to_end(client))
        old.end()
        self.assertEqual(new.end(), 0)

    def ask_for_sockets(self):
        line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        line.settimeout(PATIENCE)
        line.connect(self.point)
        line.sendall(HELLO)
        self.handed = []
        while True:
            text, descriptors, _, _ = socket.recv_fds(line, 256, 253)
            self.handed += [(text, number) for number in descriptors]
            if text.startswith(b"that is all"):
                return line

    def adopt(self, line):
        """A router for the data sockets of a predecessor, by the service manager's way."""
        sockets = [socket.socket(fileno=number) for text, number in self.handed if text == b"data"]
        others = [number for text, number in self.handed if text != b"data"]
        for number in others:
            os.close(number)
        router = activated(sockets, "", "threads: 1\n")
        for each in sockets:
            each.close()
        line.close()
        router.port = self.ports["port"]
        return router

    def test_a_newcomer_that_dies_before_it_is_ready_changes_nothing(self):
        router = self.router()
        for _ in range(2):
            line = self.ask_for_sockets()
            kinds = [text for text, _ in self.handed]
            self.assertIn(b"data", kinds)
            self.assertIn(b"admin", kinds)
            for _, number in self.handed:
                os.close(number)
            line.close()
            wait_until(lambda: b"did not become ready" in router.text())
            self.assertIn(b"200 OK", router.ask())
        successor = self.router()  # and it can still be replaced
        self.assertEqual(router.process.wait(PATIENCE), 0)
        self.assertIn(b"200 OK", successor.ask())
        router.end()
        self.assertEqual(successor.end(), 0)

    def test_a_newcomer_with_a_bad_address_fails_and_changes_nothing(self):
        router = self.router()
        with socket.create_server(("127.0.0.1", 0)) as taken:
            ports = self.ports
            self.ports = dict(ports, port=taken.getsockname()[1])
            newcomer = self.router(are_up=False)
            self.assertEqual(newcomer.end(), 1)
            self.ports = ports
        wait_until(lambda: b"did not become ready" in router.text())
        self.assertIn(b"200 OK", router.ask())
        self.assertEqual(router.end(), 0)

    def test_the_admin_listener_goes_along(self):
        old = self.router()
        stream = open_stream(old)
        new = self.router()
        wait_until(lambda: b"draining" in old.text())
        for _ in range(20):
            self.assertIn('"ready": true', new.admin("/readyz"))
        self.backend.finish.set()
        self.assertTrue(read_to_end(stream).endswith(b"b\r\n0\r\n\r\n"))
        self.assertEqual(old.process.wait(PATIENCE), 0)
        old.end()
        self.assertEqual(new.end(), 0)

    def test_the_service_managers_sockets_go_along_wherever_they_listen(self):
        take_over = ["--take-over", self.point]
        with socket.create_server(("127.0.0.1", 0)) as data, socket.create_server(("127.0.0.1", 0)) as admin:
            ports = [each.getsockname()[1] for each in (data, admin)]
            routers = [activated([data, admin], "data:admin", arguments=take_over)]
            for start in (lambda: Router([self.backend], are_up=False, arguments=take_over),
                          lambda: activated([data, admin], "data:admin", arguments=take_over)):
                routers[-1].port, routers[-1].admin_port = ports
                wait_until(lambda: routers[-1].metric("backend_healthy") == 1)
                routers.append(start())
                self.assertEqual(routers[-2].process.wait(PATIENCE), 0)
                routers[-1].port, routers[-1].admin_port = ports
                wait_until(lambda: routers[-1].metric("backend_healthy") == 1)
                self.assertIn(b"200 OK", routers[-1].ask())
                self.assertNotIn(b"are reset", routers[-1].text())
            for router in routers[:-1]:
                router.end()
            self.assertEqual(routers[-1].end(), 0)

    def test_a_socket_that_a_dead_process_left_is_replaced(self):
        first = self.router()
        first.process.kill()
        first.process.wait()
        self.assertTrue(os.path.exists(self.point))
        second = self.router()
        self.assertIn(b"200 OK", second.ask())
        self.assertEqual(self.router_at_the_point(), second.process.pid)
        first.end()
        self.assertEqual(second.end(), 0)

    def router_at_the_point(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as line:
            line.connect(self.point)
            return struct.unpack("3i", line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]

    def test_the_socket_is_its_owners_alone(self):
        router = self.router()
        self.assertEqual(stat.S_IMODE(os.stat(self.point).st_mode), 0o600)
        if os.geteuid() == 0:
            os.chmod(self.folder.name, 0o755)
            os.chmod(self.point, 0o666)
            script = ("import os, socket, sys; os.setuid(65534)\n"
                      "s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.connect(sys.argv[1])\n"
                      "sys.exit(len(s.recv(99)))\n")
            done = subprocess.run([sys.executable, "-c", script, self.point], capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            wait_until(lambda: b"of another user" in router.text())
        self.assertEqual(router.end(), 0)

    def test_a_file_that_is_no_socket_is_left_alone(self):
        with open(self.point, "w") as file:
            file.write("precious")
        router = self.router(are_up=False)
        self.assertIn(b"--take-over %s: " % self.point.encode(), router.text())
        self.assertNotIn(b"serving on", router.text())
        self.assertEqual(router.end(), 1)
        with open(self.point) as file:
            self.assertEqual(file.read(), "precious")

    def test_a_changed_address_is_bound_anew(self):
        old = self.router()
        self.ports["port"] = free_port()
        new = self.router()
        self.assertIn(b"200 OK", new.ask())
        self.assertEqual(old.process.wait(PATIENCE), 0)
        self.assertFalse(old.accepts())
        old.end()
        self.assertEqual(new.end(), 0)


if __name__ == "__main__":
    unittest.main(warnings="ignore")
