"""Free ports, and waiting for a server."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from loopback import free_port  # noqa: E402, F401


def wait_for(url, seconds):
    subprocess.run(["curl", "-sf", "--retry", str(seconds), "--retry-delay", "1", "--retry-all-errors", "-o",
                    "/dev/null", url], check=True)
