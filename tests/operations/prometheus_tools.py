"""promtool and prometheus from the distribution.

They are taken out of the distribution's package into the build folder rather than installed: 19 MB instead of 80, and no
server is started on the developer's machine.
"""
import pathlib
import shutil
import subprocess
import unittest

PROGRAMS = ("promtool", "prometheus")


def find(cache):
    """Paths of promtool and prometheus: installed ones, those in the folder `cache`, or fetched into it."""
    if all(shutil.which(name) for name in PROGRAMS):
        return [shutil.which(name) for name in PROGRAMS]
    folder = pathlib.Path(cache)
    if not all((folder / "usr/bin" / name).exists() for name in PROGRAMS):
        fetch(folder)
    return [str(folder / "usr/bin" / name) for name in PROGRAMS]


def fetch(folder):
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        raise unittest.SkipTest("promtool is not installed, and this is no Debian or Ubuntu to take it from: "
                                "install Prometheus")
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("prometheus", "promtool"):  # Debian 12 has both in the package of the first
        if not (folder / "usr/bin" / name).exists():
            unpack(name, folder)


def unpack(name, folder):
    fetched = subprocess.run(["apt-get", "download", "-q", name], cwd=folder, capture_output=True, text=True, check=False)
    packages = sorted(folder.glob(name + "_*.deb"))
    if fetched.returncode != 0 or not packages:
        raise RuntimeError(f"cannot download the package {name}: run apt-get update, or install promtool and "
                           f"prometheus yourself\n{fetched.stderr}")
    for package in packages:
        subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
        package.unlink()
