"""A small Debian or Ubuntu of the host's own release in a folder, to try packages in."""
import pathlib
import shutil
import subprocess
import tempfile
import unittest


def run(*command, **options):
    """Runs to success and returns what was printed."""
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout


def release():
    """Codename of the host's release and the mirror that it is installed from."""
    facts = dict(line.split("=", 1) for line in pathlib.Path("/etc/os-release").read_text().splitlines() if "=" in line)
    codename = facts["VERSION_CODENAME"].strip('"')
    targets = run("apt-get", "indextargets", "--format", "$(RELEASE) $(COMPONENT) $(SITE)", "Created-By: Packages")
    for line in targets.splitlines():
        name, component, site = line.split(" ", 2)
        if name == codename and component == "main":
            return codename, site
    raise AssertionError(f"apt knows no source of {codename}/main: run apt-get update")


class Chroot:
    """Unpacked from a base that debootstrap makes once into the folder `cache`; gone with end()."""

    def __init__(self, cache):
        codename, mirror = release()
        base = pathlib.Path(cache) / f"{codename}.tar"
        if not base.exists():
            make_base(base, codename, mirror)
        self.folder = tempfile.mkdtemp(prefix="prefix-router-chroot-")
        self.root = pathlib.Path(self.folder)
        run("tar", "-xf", base, "-C", self.root)
        self.root.chmod(0o755)  # a temporary folder is its owner's alone
        shutil.copy("/etc/resolv.conf", self.root / "etc/resolv.conf")

    def run(self, *command):
        return run("chroot", self.root, "/usr/bin/env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8",
                   "DEBIAN_FRONTEND=noninteractive", *command)

    def install(self, package, *options):
        """With what it depends on."""
        shutil.copy(package, self.root / "tmp/package.deb")
        self.run("apt-get", "install", "-y", "-q", "--no-install-recommends", *options, "/tmp/package.deb")

    def end(self):
        shutil.rmtree(self.folder)


def make_base(base, codename, mirror):
    base.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        run("debootstrap", "--variant=minbase", codename, folder, mirror)
        whole = base.with_suffix(".part")
        run("tar", "-cf", whole, "-C", folder, "--exclude=./dev/*", "--exclude=./proc/*", ".")
        whole.rename(base)


def need_root_and_tools():
    missing = [tool for tool in ("debootstrap", "cpack", "dpkg-shlibdeps", "file") if not shutil.which(tool)]
    if not shutil.which("apt-get"):
        raise unittest.SkipTest("this is no Debian or Ubuntu: its packages cannot be tried here")
    if pathlib.Path("/proc/self/status").read_text().split("\nUid:")[1].split()[1] != "0":
        raise unittest.SkipTest("only root can make a chroot: run this test as root")
    if missing:
        raise AssertionError(f"{', '.join(missing)}: run scripts/install_dependencies.sh")
