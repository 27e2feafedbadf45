#!/usr/bin/env python3
"""The Debian package installs, starts, keeps its configuration when upgraded, and leaves nothing behind when purged.

usage: debian_test.py BUILD_DIR ENGINE_SIM_BINARY CACHE_DIR
"""
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.request

import debian_chroot
from sockets import free_port, wait_for

CACHE, ENGINE_SIM, BUILD = sys.argv.pop(3), sys.argv.pop(2), sys.argv.pop(1)
ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE = 60
CONFIG = "etc/prefix-router/prefix-router.yaml"
UNIT = "usr/lib/systemd/system/prefix-router.service"
ENABLED = "etc/systemd/system/multi-user.target.wants/prefix-router.service"


def next_version(package, folder, default_configuration=None):
    """The same package as its next version."""
    unpacked = folder / "next"
    folder.mkdir(exist_ok=True)
    debian_chroot.run("dpkg-deb", "-R", package, unpacked)
    control = unpacked / "DEBIAN/control"
    control.write_text(re.sub(r"^Version: (.*)$", r"Version: \1+next", control.read_text(), flags=re.M))
    if default_configuration:
        (unpacked / CONFIG).write_text(default_configuration)
    made = folder / "next.deb"
    debian_chroot.run("dpkg-deb", "--root-owner-group", "-b", unpacked, made)
    return made


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        debian_chroot.need_root_and_tools()
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        debian_chroot.run("cpack", "-B", cls.folder, cwd=BUILD)
        cls.package, = cls.folder.glob("*.deb")
        cls.chroot = debian_chroot.Chroot(CACHE)
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.addClassCleanup(cls.chroot.end)

    def at(self, path):
        return self.chroot.root / path

    def traces(self):
        """Files with the router's name outside of dpkg's, apt's and the documents' own records."""
        found = self.chroot.run("find", "/", "-xdev", "-name", "*prefix-router*", "-not", "-path", "/var/cache/*",
                                "-not", "-path", "/proc/*")
        return sorted(found.split())

    def start(self, config):
        """The unit's command as the unit's user, as systemd would start it."""
        command = re.search(r"^ExecStart=(.*)$", self.at(UNIT).read_text(), re.M)[1].split()
        user = re.search(r"^User=(.*)$", self.at(UNIT).read_text(), re.M)[1]
        self.assertIn(f"/{CONFIG}", command)
        self.at(CONFIG).write_text(config)
        log = open(self.folder / "router.log", "w")
        self.addCleanup(log.close)
        process = subprocess.Popen(["chroot", f"--userspec={user}:{user}", self.chroot.root, *command],
                                   stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_life(self):
        self.installs()
        changed = self.serves()
        self.upgrades(changed)
        self.goes()

    def installs(self):
        self.chroot.run("apt-get", "update", "-q")
        self.chroot.install(self.package)
        self.assertIn("prefix-router 0", self.chroot.run("prefix-router", "--version"))
        self.assertIn("good", self.chroot.run("prefix-router", "check", "--config", f"/{CONFIG}"))
        self.assertIn("prefix-router", self.chroot.run("id", "prefix-router"))
        self.assertTrue(self.at(ENABLED).is_symlink(), "the service is not enabled")
        self.chroot.run("prefix-router", "check", "--config",
                        "/usr/share/doc/prefix-router/examples/prefix-router.yaml")

    def serves(self):
        engine, port, admin = free_port(), free_port(), free_port()
        simulated = subprocess.Popen([ENGINE_SIM, "--port", str(engine)], stdout=subprocess.DEVNULL)
        self.addCleanup(simulated.wait)
        self.addCleanup(simulated.kill)
        config = (f"listen: 127.0.0.1:{port}\nadmin: 127.0.0.1:{admin}\nbackends:\n"
                  f"  - url: http://127.0.0.1:{engine}\n# kept\n")
        router = self.start(config)
        wait_for(f"http://127.0.0.1:{admin}/readyz", PATIENCE)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=PATIENCE) as reply:
            self.assertTrue(json.load(reply)["data"])
        router.send_signal(signal.SIGTERM)
        self.assertEqual(router.wait(PATIENCE), 0)
        return config

    def upgrades(self, changed):
        second = next_version(self.package, self.folder / "second")
        self.chroot.install(second)
        self.assertIn("+next", self.chroot.run("dpkg-query", "-W", "-f", "${Version}", "prefix-router"))
        self.assertEqual(self.at(CONFIG).read_text(), changed)
        self.at(ENABLED).unlink()  # as systemctl disable does
        third = next_version(second, self.folder / "third", "# another default\n")
        self.chroot.install(third, "-o", "Dpkg::Options::=--force-confold")
        self.assertEqual(self.at(CONFIG).read_text(), changed)
        self.assertFalse(self.at(ENABLED).is_symlink(), "an upgrade enabled what was disabled")

    def goes(self):
        self.chroot.run("apt-get", "remove", "-y", "-q", "prefix-router")
        self.assertFalse(self.at("usr/bin/prefix-router").exists())
        self.assertTrue(self.at(CONFIG).exists(), "removing took the configuration")
        self.at("var/log/prefix-router").mkdir()
        self.chroot.run("apt-get", "purge", "-y", "-q", "prefix-router")
        self.assertEqual(self.traces(), [])
        self.assertNotIn("prefix-router", self.at("etc/passwd").read_text())

    def test_depends_on_what_the_program_links(self):
        depends = debian_chroot.run("dpkg-deb", "-f", self.package, "Depends")
        for library in ("libc6", "libstdc++6", "libyaml-cpp", "libspdlog", "libxxhash", "libcurl4"):
            self.assertIn(library, depends)
        self.assertRegex(depends, "libc-ares2|libcares2")  # of Debian 12, of 13

    def test_marks_the_configuration_as_the_administrators(self):
        conffiles = debian_chroot.run("dpkg-deb", "-I", self.package, "conffiles")
        self.assertEqual(conffiles.split(), [f"/{CONFIG}"])


class Unit(unittest.TestCase):
    def setUp(self):
        if not shutil.which("systemd-analyze"):
            self.skipTest("systemd-analyze is not installed: run scripts/install_dependencies.sh")
        self.unit = ROOT / "packaging/systemd/prefix-router.service"

    def test_is_hardened(self):
        report = debian_chroot.run("systemd-analyze", "security", "--offline=true", "--threshold=15", "--no-pager",
                                   self.unit)
        self.assertRegex(report, "Overall exposure level")

    def test_has_no_mistake(self):
        with tempfile.TemporaryDirectory() as folder:
            unit = pathlib.Path(folder) / "prefix-router.service"
            unit.write_text(self.unit.read_text().replace("=/usr/bin/prefix-router ", "=/bin/true "))
            report = debian_chroot.run("systemd-analyze", "verify", unit)
            self.assertNotIn("prefix-router.service", report)

    def test_lets_a_drain_finish(self):
        seconds = int(re.search(r"^TimeoutStopSec=(\d+)$", self.unit.read_text(), re.M)[1])
        sample = (ROOT / "config/prefix-router.yaml").read_text()
        grace = int(re.search(r"^  drain_grace: (\d+)s$", sample, re.M)[1])
        self.assertGreater(seconds, grace)


if __name__ == "__main__":
    unittest.main()
