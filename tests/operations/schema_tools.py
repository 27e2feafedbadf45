"""Tools from PyPI (validators that bring their schemas along, a browser's driver), in a venv in the build folder.

The venv's modules serve the tests themselves, too: which modules the machine's own Python has does not matter.
"""
import pathlib
import site
import subprocess
import sys

SCHEMAS = "requirements-schemas.txt"


def installed(cache, requirements=SCHEMAS):
    """The folder of the venv's programs; installs them when the requirements or Python have changed."""
    folder = pathlib.Path(cache)
    stamp = folder / "installed.txt"
    file = pathlib.Path(__file__).with_name(requirements)
    wanted = f"{sys.version}\n{file.read_text()}"
    if not stamp.exists() or stamp.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder / "venv"], check=True)
        subprocess.run([folder / "venv/bin/pip", "install", "-q", "--disable-pip-version-check", "-r", file],
                       check=True)
        stamp.write_text(wanted)
    return folder / "venv/bin"


def use(cache, requirements=SCHEMAS):
    """Makes the venv's modules importable."""
    installed(cache, requirements)
    modules, = (pathlib.Path(cache) / "venv/lib").glob("python3*/site-packages")
    site.addsitedir(str(modules))
