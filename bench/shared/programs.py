"""Where a proxy from Debian is: installed, or unpacked by peers.sh."""
import os
import shutil


def program_of(name, tools):
    installed = shutil.which(name, path="/usr/sbin:" + os.environ.get("PATH", ""))
    return installed or os.path.join(tools, name, "usr/sbin", name)


def library_path(name, tools):
    """The environment in which an unpacked program finds its libraries."""
    root = os.path.join(tools, name)
    found = [folder for folder, _, files in os.walk(root) if any(".so" in file for file in files)]
    return {"LD_LIBRARY_PATH": ":".join(found)} if found else {}
