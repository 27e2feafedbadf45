"""How each router is started: a command line."""
import os
import re
import shlex

import other_routers

OURS = ("adaptive", "prefix_aware", "least_outstanding_requests", "round_robin", "random")
# What the virtual replay calls the same or the nearest rule.
REPLAYED_AS = {**{name: name for name in OURS}, "nginx": "least_outstanding_requests", "smg": "rival_cache_aware"}


class Setting:
    """Where a router listens and what lies behind it."""

    def __init__(self, folder, port, engine_ports, spare_ports, speed_up):
        self.folder, self.port, self.engine_ports, self.spare_ports, self.speed_up = \
            folder, port, engine_ports, spare_ports, speed_up
        self.listen = "127.0.0.1:%d" % port
        self.urls = ["http://127.0.0.1:%d" % p for p in engine_ports]

    @property
    def admin_port(self):
        return self.spare_ports[0]

    @property
    def access_log(self):
        return os.path.join(self.folder, "access.jsonl")


def command(name, setting, arguments):
    """The words that start router `name`."""
    if name in arguments.router_cmd:
        return shlex.split(fill(arguments.router_cmd[name], setting))
    if name in OURS:
        words = [os.path.join(arguments.bin, "prefix-router"), "--listen", setting.listen, "--strategy", name,
                 "--admin", "127.0.0.1:%d" % setting.admin_port, "--log-format", "json", "--access-log", setting.access_log,
                 "--bench-speed-up", "%g" % setting.speed_up]
        return words + [word for url in setting.urls for word in ("--backend", url)]
    if name == "nginx":
        return nginx(setting, arguments)
    if name == "smg":
        return smg(setting, arguments)
    raise SystemExit("bench/live.sh: no router '%s'; give its command with --router-cmd %s='...'" % (name, name))


def nginx(setting, arguments):
    return other_routers.nginx(arguments.tools, setting.folder, setting.engine_ports, workers="auto", access_log="off", kept=256,
                               kept_requests=1000000, listen=setting.listen, http="", upstream="",
                               location="proxy_read_timeout 3600s; proxy_send_timeout 3600s;")


def smg(setting, arguments):
    return other_routers.smg(arguments.tools, setting.port, setting.spare_ports[1], setting.urls,
                             "--log-level", "warn", "--request-timeout-secs", "3600")


def fill(template, setting):
    """{listen} {port} {url} {backends} {backend_urls} {each:TEXT with %d}, as tests/scenarios/run.py has them."""
    ports = setting.engine_ports
    text = re.sub(r"\{each:([^}]*)\}", lambda m: " ".join(m.group(1).replace("%d", str(p)) for p in ports), template)
    values = {"listen": setting.listen, "port": str(setting.port), "url": "http://" + setting.listen,
              "backends": ",".join("127.0.0.1:%d" % p for p in ports), "backend_urls": " ".join(setting.urls)}
    for key, value in values.items():
        text = text.replace("{%s}" % key, value)
    return text
