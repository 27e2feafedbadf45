"""Ports on loopback, and waiting for what a process does, for the tests that drive programs."""
import socket
import time

PATIENCE = 30


def free_ports(count):
    """Ports that nobody listens on; held open together so that they differ."""
    held = [socket.socket() for _ in range(count)]
    for each in held:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in held]
    for each in held:
        each.close()
    return ports


def free_port():
    return free_ports(1)[0]


def wait_until(holds, what="it", patience=PATIENCE, process=None):
    """Returns once `holds` does; an OSError means not yet. AssertionError after `patience`, or when `process` ends."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline and (process is None or process.poll() is None):
        try:
            if holds():
                return
        except OSError:
            pass
        time.sleep(0.02)
    raise AssertionError("%s did not come about" % what)
