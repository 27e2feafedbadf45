#!/usr/bin/env python3
"""What a daemon tells an operator who has made a mistake: `check` finds what the start would, addresses that clients
cannot have meant, names that do not resolve, a capacity that the engine contradicts.

usage: advice_test.py ROUTER_BINARY
"""
import json
import os
import socket
import subprocess
import tempfile
import unittest

from daemon_test import PATIENCE, ROUTER, Backend, free_port, make_certificate, wait_until
from reload_test import Reloadable, entries

UNRESOLVABLE = "x" * 64  # longer than a label may be: no name server is asked


def run(*arguments):
    done = subprocess.run([ROUTER, *arguments], capture_output=True, text=True, timeout=PATIENCE)
    return done.returncode, done.stdout + done.stderr


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def file_of(self, more, backend="{url: 'http://127.0.0.1:1'}", listen="127.0.0.1:0"):
        return self.write("router.yaml", "listen: '%s'\nadmin: off\nbackends: [%s]\n%s" % (listen, backend, more))


class Check(WithFolder):
    def expect_both_to_find(self, path, said):
        for command in (["check"], []):
            code, output = run(*command, "--config", path)
            self.assertNotEqual(code, 0, said)
            self.assertIn(said, output, command)

    def test_finds_what_the_start_would(self):
        tls = "{url: 'https://127.0.0.1:1', tls: {%s}}"
        for backend, said in (
                ("{url: 'http://127.0.0.1:1', authorization: 'file:/nope'}", "authorization: the file /nope cannot be opened"),
                ("{url: 'http://127.0.0.1:1', authorization: 'env:NOPE_X'}", "the environment variable NOPE_X is not set"),
                (tls % "ca: /nope", "/nope: cannot be read"),
                (tls % "client_certificate: /nope, client_key: /nope", "/nope: cannot be read")):
            self.expect_both_to_find(self.file_of("", backend), said)
        certificate = make_certificate(self.folder, "a")[0]
        for more, said in (
                ("log: {access: /nope/x}\n", "log.access: cannot open '/nope/x': No such file"),
                ("log: {access: %s}\n" % self.folder, "Is a directory"),
                ("log: {access: '%s/x'}\n" % certificate, "Not a directory"),
                ("log: {trace: /nope/x}\n", "'/nope/x': No such file"),
                ("tracing: {endpoint: 'http://127.0.0.1:1', headers: 'file:/nope'}\n", "tracing.headers: the file /nope"),
                ("tls: {certificate: /nope, key: /nope}\n", "tls.certificate: /nope: cannot be read"),
                ("tls: {certificate: '%s', key: /nope}\n" % certificate, "tls.key: /nope: cannot be read")):
            self.expect_both_to_find(self.file_of(more), said)
        self.expect_both_to_find(self.file_of("", listen=UNRESOLVABLE + ":80"), "cannot listen on '%s'" % UNRESOLVABLE)

    def test_finds_them_all(self):
        code, output = run("check", "--config", self.file_of("log: {access: /nope/x, trace: /nope/y}\n",
                                                             "{url: 'http://127.0.0.1:1', authorization: 'env:NOPE_X'}"))
        self.assertEqual(code, 2)
        for said in ("/nope/x", "/nope/y", "NOPE_X"):
            self.assertIn(said, output)

    def test_finds_what_a_source_of_backends_would(self):
        listed = self.write("listed.yaml", "- {url: 'http://127.0.0.1:2', authorization: 'file:/nope'}\n")
        for source, said in (("file: '%s'" % listed, "the file /nope cannot be opened"),
                             ("dns: [{name: engines, port: 1, authorization: 'file:/nope'}]", "dns:engines:1"),
                             ("kubernetes: [{service: engines, authorization: 'env:NOPE_X'}]", "NOPE_X is not set"),
                             ("kubernetes: [{service: engines, kubeconfig: /nope}]", "kubeconfig: ")):
            code, output = run("check", "--config", self.file_of("discovery: {%s}\n" % source))
            self.assertEqual(code, 2, source)
            self.assertIn(said, output)

    def test_changes_nothing(self):
        kept = self.write("kept", "a line\n")
        new = os.path.join(self.folder, "new")
        for log in ("{access: '%s', trace: '%s'}" % (new, kept), "{access: '%s', trace: '%s'}" % (kept, new)):
            code, output = run("check", "--config", self.file_of("log: %s\n" % log))
            self.assertEqual(code, 0, output)
        self.assertFalse(os.path.exists(new))
        with open(kept) as file:
            self.assertEqual(file.read(), "a line\n")


class Addresses(WithFolder):
    SAID = "write http://127.0.0.1:%d"

    def test_check_warns_and_passes(self):
        code, output = run("check", "--config", self.file_of("", "{id: a, url: 'http://127.0.0.1:1/v1'}"))
        self.assertEqual(code, 0, output)
        self.assertIn("router.yaml: warning: backend a: ", output)
        self.assertIn(self.SAID % 1, output)
        self.assertIn("good, 1 backends", output)
        listed = self.write("listed.yaml", "- url: http://127.0.0.1:2/v1/chat/completions\n")
        code, output = run("check", "--config", self.file_of("discovery: {file: '%s'}\n" % listed))
        self.assertEqual(code, 0, output)
        self.assertIn(self.SAID % 2, output)

    def test_start_reload_and_admin_warn(self):
        self.write("listed.yaml", "- url: http://127.0.0.1:2/v1/messages\n")
        entry = "backends: [{id: a, url: 'http://127.0.0.1:%d/v1'}]\n"
        router = Reloadable(entry % 1, None, "discovery: {file: '%s/listed.yaml'}\n" % self.folder)
        self.addCleanup(router.end)
        router.says((self.SAID % 1).encode())
        router.says((self.SAID % 2).encode())
        status, told = router.reload(entry % 3)
        self.assertEqual(status, 200)
        self.assertIn(self.SAID % 3, " ".join(told["warnings"]))
        router.says((self.SAID % 3).encode())
        status, told = router.post("/backends", b'{"id": "b", "url": "http://127.0.0.1:4/v1"}')
        self.assertEqual(status, 201)
        self.assertIn(self.SAID % 4, " ".join(told["warnings"]))
        router.says((self.SAID % 4).encode())
        status, told = router.post("/backends", b'{"id": "c", "url": "http://127.0.0.1:5"}')
        self.assertEqual(told["warnings"], [])

    def test_quick_start_warns(self):
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen([ROUTER, "-b", "http://127.0.0.1:1/v1", "-l", "127.0.0.1:0", "--admin", "off"],
                                       stdout=output, stderr=output)
            self.addCleanup(process.wait)
            self.addCleanup(process.terminate)

            def text():
                output.seek(0)
                return output.read()

            wait_until(lambda: (self.SAID % 1).encode() in text())

    def test_an_admin_port_in_use_names_the_way_out(self):
        with socket.create_server(("127.0.0.1", 0)) as held:
            taken = "127.0.0.1:%d" % held.getsockname()[1]
            code, output = run("-b", "http://127.0.0.1:1", "-l", "127.0.0.1:0", "--admin", taken)
            self.assertEqual(code, 1)
            self.assertIn("--admin off", output)
            path = self.file_of("")
            with open(path) as file:
                text = file.read()
            code, output = run("--config", self.write("router.yaml", text.replace("admin: off", "admin: " + taken)))
            self.assertEqual(code, 1)
            self.assertIn("admin: off", output)
            self.assertNotIn("--admin", output)


class Backends(unittest.TestCase):
    def state(self, router):
        return json.loads(router.admin("/backends"))["backends"][0]

    def test_a_name_that_does_not_resolve_is_told(self):
        router = Reloadable("backends: [{id: a, url: 'http://%s:1'}]\nhealth: {timeout: 1s}\n" % UNRESOLVABLE, None)
        self.addCleanup(router.end)
        router.says(b"fails its health probe: connect_failed: the name %s did not resolve" % UNRESOLVABLE.encode())
        wait_until(lambda: self.state(router)["health"] == "unhealthy")
        self.assertIn("did not resolve", self.state(router)["last_error"])

    def test_one_that_failed_every_probe_is_unhealthy(self):
        router = Reloadable("backends: [{id: a, url: 'http://127.0.0.1:%d'}]\n" % free_port(), None)
        self.addCleanup(router.end)
        wait_until(lambda: self.state(router)["health"] == "unhealthy")
        self.assertEqual(router.metric("backend_healthy"), 0)

    def test_a_capacity_that_its_engine_contradicts_is_told_once(self):
        backend = Backend()

        def report(blocks):
            backend.pages["/metrics"] = b'vllm:cache_config_info{block_size="16",num_gpu_blocks="%d"} 1\n' % blocks

        report(1000)
        router = Reloadable("backends: [{id: a, url: '%s', capacity_tokens: 5000}]\nhealth: {scrape_interval: 100ms}\n"
                            % backend.url, 1)
        self.addCleanup(router.end)
        said = b"backend a: capacity_tokens is 5000, but its engine reports %d, which counts"
        router.says(said % 16000)
        self.assertEqual(self.state(router)["capacity_tokens"], 16000)
        report(2000)
        router.says(said % 32000)
        self.assertEqual(router.text().count(b"capacity_tokens is"), 2)

    def test_a_capacity_that_its_engine_confirms_is_not(self):
        backend = Backend()
        backend.pages["/metrics"] = b'vllm:cache_config_info{block_size="16",num_gpu_blocks="1000"} 1\n'
        router = Reloadable(entries(("a", backend)).replace("url:", "capacity_tokens: 16000, url:"), 1)
        self.addCleanup(router.end)
        wait_until(lambda: self.state(router)["reported"]["capacity_tokens"] == 16000)
        self.assertNotIn(b"capacity_tokens is", router.text())


if __name__ == "__main__":
    unittest.main()
