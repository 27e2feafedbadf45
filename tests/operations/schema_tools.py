"""Validators from PyPI that bring their schemas along, in a venv in the build folder."""
import pathlib
import subprocess
import sys

REQUIREMENTS = pathlib.Path(__file__).with_name("requirements-schemas.txt")


def installed(cache):
    """The folder of the venv's programs; installs them when the requirements have changed."""
    folder = pathlib.Path(cache)
    stamp = folder / "requirements.txt"
    if not stamp.exists() or stamp.read_text() != REQUIREMENTS.read_text():
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        subprocess.run([folder / "venv/bin/pip", "install", "-q", "--disable-pip-version-check", "-r", REQUIREMENTS],
                       check=True)
        stamp.write_text(REQUIREMENTS.read_text())
    return folder / "venv/bin"
