"""Free ports, and waiting for a server."""
import socket
import subprocess


def free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


def wait_for(url, seconds):
    subprocess.run(["curl", "-sf", "--retry", str(seconds), "--retry-delay", "1", "--retry-all-errors", "-o",
                    "/dev/null", url], check=True)
