"""How each proxy is started, with equal jobs: two backends, kept connections to them, an access log, forwarded-for."""
import os

from programs import library_path, program_of

NAMES = ("router", "nginx", "haproxy")

# Lines of the access log leave in batches, as the router's do. Upstream connections are kept for ever.
NGINX = """daemon off;
worker_processes {threads};
worker_rlimit_nofile 65536;
pid {folder}/nginx.pid;
error_log stderr error;
events {{ worker_connections 16384; }}
http {{
    access_log {folder}/access.log combined buffer=64k flush=1s;
    client_body_temp_path {folder}/nginx-body;
    proxy_temp_path {folder}/nginx-proxy;
    fastcgi_temp_path {folder}/nginx-fastcgi;
    uwsgi_temp_path {folder}/nginx-uwsgi;
    scgi_temp_path {folder}/nginx-scgi;
    client_max_body_size 0;
    client_body_buffer_size 4m;
    keepalive_requests 100000000;
    keepalive_timeout 3600s;
    tcp_nodelay on;
    upstream backends {{
        zone backends 256k;
        least_conn;
{servers}
        keepalive 1024;
        keepalive_requests 100000000;
        keepalive_timeout 3600s;
    }}
    server {{
        listen 127.0.0.1:{port} backlog=4096;
        location / {{
            proxy_pass http://backends;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
            proxy_set_header X-Request-Id $request_id;
            proxy_buffering off;
        }}
    }}
}}
"""
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
        servers = "\n".join("        server 127.0.0.1:%d max_fails=0;" % p for p in backend_ports)
        path = write(folder, "nginx.conf", NGINX.format(folder=folder, threads=threads, port=port, servers=servers))
        return [program_of("nginx", arguments.tools), "-p", folder, "-c", path], NGINX_ENVIRONMENT
    if name == "haproxy":
        servers = "\n".join("    server b%d 127.0.0.1:%d pool-max-conn -1 pool-purge-delay 3600s" % (p, p) for p in backend_ports)
        path = write(folder, "haproxy.cfg", HAPROXY.format(threads=threads, port=port, servers=servers))
        return [program_of("haproxy", arguments.tools), "-db", "-f", path], library_path("haproxy", arguments.tools)
    if name == "smg":
        return [os.path.join(arguments.tools, "smg/bin/smg"), "launch", "--host", "127.0.0.1", "--port", str(port), "--policy",
                "cache_aware", "--prometheus-port", str(spare_port), "--log-level", "warn", "--max-concurrent-requests", "100000",
                "--worker-urls"] + urls, {"TOKIO_WORKER_THREADS": threads}
    return [arguments.prototype, "--port", str(port), "--threads", threads, "--backends", ",".join(map(str, backend_ports)),
            "--extract", "fast"], {}


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    return path
