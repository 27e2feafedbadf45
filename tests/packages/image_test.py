#!/usr/bin/env python3
"""The container image is small, runs as a user without privilege, and needs nothing to write to.

usage: image_test.py BUILD_DIR ENGINE_SIM_BINARY CACHE_DIR

buildah makes it from docker/Dockerfile without a daemon. The stage that compiles is replaced by what is built already, and
the base image by a Debian of debootstrap, so that no registry is asked.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import debian_chroot
from debian_chroot import run
from sockets import free_port, wait_for

CACHE, ENGINE_SIM, BUILD = sys.argv.pop(3), sys.argv.pop(2), sys.argv.pop(1)
ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCKERFILE = ROOT / "docker/Dockerfile"
LIMIT = 60_000_000  # compressed
PATIENCE = 60
# Less than any machine allows: buildah's defaults are more, and fail where nobody may raise limits.
SETTINGS = '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]\n'
NOT_IN_A_SLIM_IMAGE = ("var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/man", "usr/share/locale")


def need_buildah():
    debian_chroot.need_root_and_tools()
    if not shutil.which("buildah"):
        raise AssertionError("buildah is missing: run scripts/install_dependencies.sh")


class Store:
    """buildah with images and containers in a folder of its own."""

    def __init__(self, folder):
        self.options = ["--root", folder / "images", "--runroot", folder / "run", "--storage-driver", "vfs"]
        settings = folder / "containers.conf"
        settings.write_text(SETTINGS)
        self.environment = {**os.environ, "BUILDAH_ISOLATION": "chroot", "CONTAINERS_CONF": settings}

    def __call__(self, *command):
        return run("buildah", *self.options, *command, env=self.environment).strip()

    def make_base(self, name, cache):
        base = debian_chroot.Chroot(cache)
        try:
            for path in NOT_IN_A_SLIM_IMAGE:
                shutil.rmtree(base.root / path, ignore_errors=True)
            container = self("from", "scratch")
            self("copy", "-q", container, base.root, "/")
            self("commit", "-q", "--rm", container, name)
        finally:
            base.end()

    def build(self, context, tag, *options):
        self("bud", "-q", "--format", "docker", "--pull-never", "--network", "host", "--build-context",
             f"build={context}", "-f", DOCKERFILE, "-t", tag, *options, ROOT / "docker")


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need_buildah()
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        built = cls.folder / "built"
        run("cpack", "-B", built / "package", cwd=BUILD)
        shutil.rmtree(built / "package/_CPack_Packages")
        (built / "engine-sim").mkdir()
        run("strip", "-o", built / "engine-sim/engine-sim", ENGINE_SIM)
        cls.store = Store(cls.folder)
        cls.store.make_base(re.search(r"^FROM (\S+)$", DOCKERFILE.read_text(), re.M)[1], CACHE)
        cls.store.build(built, "prefix-router")
        cls.store.build(built, "engine-sim", "--target", "engine-sim")
        cls.facts = json.loads(cls.store("inspect", "--type", "image", "prefix-router"))["Docker"]["config"]
        cls.container = cls.store("from", "--pull-never", "prefix-router")
        cls.mounted = pathlib.Path(cls.store("mount", cls.container))
        cls.root = cls.folder / "read-only"
        cls.root.mkdir()
        run("mount", "--bind", cls.mounted, cls.root)
        cls.addClassCleanup(cls.store, "umount", cls.container)
        cls.addClassCleanup(run, "umount", cls.root)
        run("mount", "-o", "remount,bind,ro", cls.root)

    def inside(self, *command):
        return ["chroot", f"--userspec={self.facts['User']}", str(self.root), *map(str, command)]

    def background(self, *command):
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_is_small(self):
        layers = self.folder / "layers"
        self.store("push", "-q", "prefix-router", f"oci:{layers}")
        size = sum(path.stat().st_size for path in layers.rglob("*") if path.is_file())
        print(f"image: {size / 1e6:.1f} MB compressed")
        self.assertLess(size, LIMIT)

    def test_runs_as_a_user_without_privilege(self):
        self.assertRegex(self.facts["User"], r"^[1-9]\d*:[1-9]\d*$")

    def test_serves_from_a_read_only_root_and_tells_its_health(self):
        engine, port, admin = free_port(), free_port(), free_port()
        self.background(ENGINE_SIM, "--port", str(engine))
        router = self.background(*self.inside(*self.facts["Entrypoint"], "--listen", f"127.0.0.1:{port}", "--admin",
                                              f"127.0.0.1:{admin}", "--backend", f"http://127.0.0.1:{engine}"))
        wait_for(f"http://127.0.0.1:{admin}/readyz", PATIENCE)
        wait_for(f"http://127.0.0.1:{port}/v1/models", PATIENCE)
        self.assertNotEqual(subprocess.run(self.inside("touch", "/tmp/x"), capture_output=True, check=False).returncode, 0)
        self.assertEqual(subprocess.run(self.health_check(admin), check=False).returncode, 0)
        router.send_signal(signal.SIGTERM)
        self.assertEqual(router.wait(PATIENCE), 0)
        self.assertNotEqual(subprocess.run(self.health_check(admin), capture_output=True, check=False).returncode, 0)

    def health_check(self, admin):
        kind, *command = self.facts["Healthcheck"]["Test"]
        self.assertEqual(kind, "CMD")
        return self.inside(*(word.replace("/9191", f"/{admin}") for word in command))

    def test_has_a_configuration_that_loads(self):
        command = self.inside(*self.facts["Entrypoint"], "check", *self.facts["Cmd"])
        self.assertEqual(subprocess.run(command, capture_output=True, check=False).returncode, 0)

    def test_of_the_simulated_engine_runs(self):
        container = self.store("from", "--pull-never", "engine-sim")
        self.assertIn("--port", self.store("run", container, "--", "engine-sim", "--help"))


if __name__ == "__main__":
    unittest.main()
