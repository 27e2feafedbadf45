"""How each router is started: a command line, and for nginx its configuration."""
import os
import re
import shlex

from programs import program_of

OURS = ("adaptive", "prefix_aware", "least_outstanding_requests", "round_robin", "random")
# What the virtual replay calls the same or the nearest rule.
REPLAYED_AS = {**{name: name for name in OURS}, "nginx": "least_outstanding_requests", "smg": "rival_cache_aware"}

NGINX = """daemon off;
worker_processes auto;
worker_rlimit_nofile 65536;
pid {folder}/nginx.pid;
error_log stderr error;
events {{ worker_connections 16384; }}
http {{
    access_log off;
    client_body_temp_path {folder}/nginx-body;
    proxy_temp_path {folder}/nginx-proxy;
    fastcgi_temp_path {folder}/nginx-fastcgi;
    uwsgi_temp_path {folder}/nginx-uwsgi;
    scgi_temp_path {folder}/nginx-scgi;
    client_max_body_size 0;
    client_body_buffer_size 4m;
    keepalive_requests 1000000;
    upstream engines {{
        zone engines 256k;
        least_conn;
{servers}
        keepalive 256;
        keepalive_requests 1000000;
    }}
    server {{
        listen {listen};
        location / {{
            proxy_pass http://engines;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_buffering off;
            proxy_read_timeout 3600s;
            proxy_send_timeout 3600s;
        }}
    }}
}}
"""


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
    servers = "\n".join("        server 127.0.0.1:%d max_fails=0;" % p for p in setting.engine_ports)
    path = os.path.join(setting.folder, "nginx.conf")
    with open(path, "w") as file:
        file.write(NGINX.format(folder=setting.folder, servers=servers, listen=setting.listen))
    return [program_of("nginx", arguments.tools), "-p", setting.folder, "-c", path]


def smg(setting, arguments):
    return [os.path.join(arguments.tools, "smg/bin/smg"), "launch", "--host", "127.0.0.1", "--port", str(setting.port),
            "--policy", "cache_aware", "--prometheus-port", str(setting.spare_ports[1]), "--log-level", "warn",
            "--request-timeout-secs", "3600", "--max-concurrent-requests", "100000",
            "--worker-urls"] + setting.urls


def fill(template, setting):
    """{listen} {port} {url} {backends} {backend_urls} {each:TEXT with %d}, as tests/scenarios/run.py has them."""
    ports = setting.engine_ports
    text = re.sub(r"\{each:([^}]*)\}", lambda m: " ".join(m.group(1).replace("%d", str(p)) for p in ports), template)
    values = {"listen": setting.listen, "port": str(setting.port), "url": "http://" + setting.listen,
              "backends": ",".join("127.0.0.1:%d" % p for p in ports), "backend_urls": " ".join(setting.urls)}
    for key, value in values.items():
        text = text.replace("{%s}" % key, value)
    return text
