"""Other people's routers as the benchmarks start them: what all have in common."""
import os

from programs import program_of

NGINX = """daemon off;
worker_processes {workers};
worker_rlimit_nofile 65536;
pid {folder}/nginx.pid;
error_log stderr error;
events {{ worker_connections 16384; }}
http {{
    access_log {access_log};
    client_body_temp_path {folder}/nginx-body;
    proxy_temp_path {folder}/nginx-proxy;
    fastcgi_temp_path {folder}/nginx-fastcgi;
    uwsgi_temp_path {folder}/nginx-uwsgi;
    scgi_temp_path {folder}/nginx-scgi;
    client_max_body_size 0;
    client_body_buffer_size 4m;
    keepalive_requests {kept_requests};
    {http}
    upstream backends {{
        zone backends 256k;
        least_conn;
        {servers}
        keepalive {kept};
        keepalive_requests {kept_requests};
        {upstream}
    }}
    server {{
        listen {listen};
        location / {{
            proxy_pass http://backends;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_buffering off;
            {location}
        }}
    }}
}}
"""


def nginx(tools, folder, backend_ports, **values):
    """The words that start it. Values: workers, access_log, kept (connections), kept_requests (of one connection), listen,
    and what else stands in http, upstream and location."""
    servers = "\n        ".join("server 127.0.0.1:%d max_fails=0;" % port for port in backend_ports)
    path = os.path.join(folder, "nginx.conf")
    with open(path, "w") as file:
        file.write(NGINX.format(folder=folder, servers=servers, **values))
    return [program_of("nginx", tools), "-p", folder, "-c", path]


def smg(tools, port, metrics_port, urls, *more):
    """The words that start it with its cache-aware policy."""
    return [os.path.join(tools, "smg/bin/smg"), "launch", "--host", "127.0.0.1", "--port", str(port),
            "--policy", "cache_aware", "--prometheus-port", str(metrics_port), *more,
            "--max-concurrent-requests", "100000", "--worker-urls", *urls]
