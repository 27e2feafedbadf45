"""How each proxy is started, with equal jobs: two backends, kept connections to them, an access log, forwarded-for."""
import os

import other_routers
from programs import library_path, program_of

NAMES = ("router", "nginx", "haproxy")

# Lines of the access log leave in batches, as the router's do. Upstream connections are kept for ever.
NGINX = {"kept": 1024, "kept_requests": 100000000, "upstream": "keepalive_timeout 3600s;",
         "http": "keepalive_timeout 3600s; tcp_nodelay on;",
         "location": "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_set_header X-Request-Id $request_id;"}
# Else it maps and faults in each large body anew. Plain numbers: glibc reads "1G" as one byte.
NGINX_ENVIRONMENT = {"MALLOC_MMAP_THRESHOLD_": "1073741824", "MALLOC_TRIM_THRESHOLD_": "1073741824"}

HAPROXY = """global
    nbthread {threads}
    maxconn 8000
    log stdout format raw local0
defaults
    mode http
    log global
    option httplog
    option forwardfor
    option http-no-delay
    option http-keep-alive
    http-reuse always
    timeout connect 5s
    timeout client 3600s
    timeout server 3600s
    timeout http-keep-alive 3600s
frontend clients
    bind 127.0.0.1:{port} backlog 4096
    unique-id-format %[uuid]
    unique-id-header X-Request-Id
    default_backend backends
backend backends
    balance leastconn
{servers}
"""


def wanted(arguments):
    names = list(NAMES) + ["smg"] * arguments.smg + ["prototype"] * bool(arguments.prototype) + ["baseline"] * bool(arguments.baseline)
    if arguments.peers:
        names = [name for name in names if name in arguments.peers.split(",")]
    return names


def command(name, arguments, folder, port, spare_port, backend_ports):
    """(words, environment) that start proxy `name` on `port`."""
    urls = ["http://127.0.0.1:%d" % p for p in backend_ports]
    threads = str(arguments.threads)
    if name in ("router", "baseline"):
        program = arguments.baseline if name == "baseline" else os.path.join(arguments.bin, "prefix-router")
        return [program, "--listen", "127.0.0.1:%d" % port, "--admin", "127.0.0.1:%d" % spare_port, "--threads", threads,
                "--log-level", "error", "--access-log", os.path.join(folder, "access.log")] + \
            [word for url in urls for word in ("--backend", url)], {}
    if name == "nginx":
        return other_routers.nginx(arguments.tools, folder, backend_ports, workers=threads,
                                   access_log=os.path.join(folder, "access.log") + " combined buffer=64k flush=1s",
                                   listen="127.0.0.1:%d backlog=4096" % port, **NGINX), NGINX_ENVIRONMENT
    if name == "haproxy":
        servers = "\n".join("    server b%d 127.0.0.1:%d pool-max-conn -1 pool-purge-delay 3600s" % (p, p) for p in backend_ports)
        path = os.path.join(folder, "haproxy.cfg")
        with open(path, "w") as file:
            file.write(HAPROXY.format(threads=threads, port=port, servers=servers))
        return [program_of("haproxy", arguments.tools), "-db", "-f", path], library_path("haproxy", arguments.tools)
    if name == "smg":
        return other_routers.smg(arguments.tools, port, spare_port, urls, "--log-level", "warn"), {"TOKIO_WORKER_THREADS": threads}
    return [arguments.prototype, "--port", str(port), "--threads", threads, "--backends", ",".join(map(str, backend_ports)),
            "--extract", "fast"], {}
