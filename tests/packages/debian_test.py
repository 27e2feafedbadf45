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
import urllib.error
import urllib.request

import debian_chroot
from sockets import free_port, wait_for

CACHE, ENGINE_SIM, BUILD = sys.argv.pop(3), sys.argv.pop(2), sys.argv.pop(1)
ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE = 60
CONFIG = "etc/prefix-router/prefix-router.yaml"
UNIT = "usr/lib/systemd/system/prefix-router.service"
SOCKETS = ("prefix-router.socket", "prefix-router-admin.socket")
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
        for unit in SOCKETS:
            self.assertTrue((self.at(UNIT).parent / unit).exists(), unit)
            self.assertFalse((self.at("etc/systemd/system/sockets.target.wants") / unit).is_symlink(),
                             "the package enabled what the administrator chooses")
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
        wants = self.at("etc/systemd/system/sockets.target.wants")
        wants.mkdir()
        for unit in SOCKETS:  # as systemctl enable does
            (wants / unit).symlink_to(f"/{UNIT.rpartition('/')[0]}/{unit}")

    def goes(self):
        self.chroot.run("apt-get", "remove", "-y", "-q", "prefix-router")
        self.assertFalse(self.at("usr/bin/prefix-router").exists())
        for unit in SOCKETS:
            self.assertFalse((self.at(UNIT).parent / unit).exists(), unit)
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
            for socket in SOCKETS:
                shutil.copy(self.unit.parent / socket, folder)
            for name in ("prefix-router.service", *SOCKETS):
                report = debian_chroot.run("systemd-analyze", "verify", pathlib.Path(folder) / name)
                self.assertNotIn("prefix-router", report)

    def setting(self, socket, name):
        return re.search(rf"^{name}=(.*)$", (self.unit.parent / socket).read_text(), re.M)[1]

    def test_and_its_sockets_name_the_addresses_of_the_packaged_configuration(self):
        config = (ROOT / "packaging/debian/prefix-router.yaml").read_text()
        for socket, option in zip(SOCKETS, ("listen", "admin")):
            self.assertEqual(self.setting(socket, "ListenStream"), re.search(rf"^{option}: (.*)$", config, re.M)[1])
            self.assertEqual(self.setting(socket, "Accept"), "no")
            self.assertEqual(self.setting(socket, "WantedBy"), "sockets.target")

    def test_serves_from_its_sockets(self):
        """As systemd passes them: the first connection starts the service, with the names that the units give."""
        port, admin = free_port(), free_port()
        names = f"{SOCKETS[0]}:{self.setting(SOCKETS[1], 'FileDescriptorName')}"
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as log:
            config = pathlib.Path(folder) / "router.yaml"
            config.write_text(f"listen: 127.0.0.1:{free_port()}\nadmin: 127.0.0.1:{free_port()}\n"
                              "backends:\n  - url: http://127.0.0.1:1\n")
            process = subprocess.Popen(["systemd-socket-activate", f"--listen=127.0.0.1:{port}",
                                        f"--listen=127.0.0.1:{admin}", f"--fdname={names}",
                                        f"{BUILD}/bin/prefix-router", "--config", config],
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            wait_for(f"http://127.0.0.1:{admin}/healthz", PATIENCE)
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/x", timeout=PATIENCE)
            self.assertEqual(refused.exception.code, 503)
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(PATIENCE), 0)

    def test_lets_a_drain_finish(self):
        seconds = int(re.search(r"^TimeoutStopSec=(\d+)$", self.unit.read_text(), re.M)[1])
        sample = (ROOT / "config/prefix-router.yaml").read_text()
        grace = int(re.search(r"^  drain_grace: (\d+)s$", sample, re.M)[1])
        self.assertGreater(seconds, grace)


if __name__ == "__main__":
    unittest.main()
