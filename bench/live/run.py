"""One router's run: fresh engines, the router, the load, and what it cost."""
import json
import os
import re
import subprocess
import time
import urllib.error
import urllib.request

import processes
import routers
import truth
from arguments import engine_words

START_SECONDS = 60


class Failure(Exception):
    pass


def run_router(name, arguments, part, folder):
    """The result of router `name` as the JSON object to print, with what the page's charts need beside it."""
    os.makedirs(folder, exist_ok=True)
    with processes.Processes(folder) as children:
        engine_ports = start_engines(children, arguments)
        spare = processes.free_ports(3)
        setting = routers.Setting(folder, spare[0], engine_ports, spare[1:], arguments.speed_up)
        router = children.start("router", routers.command(name, setting, arguments))
        wait_until_it_answers(router, setting)
        watch = truth.Watch(setting) if name in routers.OURS else None
        cpu = processes.cpu_seconds(router.pid)
        samples = os.path.join(folder, "samples.jsonl")
        report = send(arguments, part, setting, name, samples)
        cpu = processes.cpu_seconds(router.pid) - cpu
        rss = processes.rss_mb(router.pid)
        metrics = watch.end() if watch else None
        computed = engine_counters(engine_ports)
    answered = max(1, sum(1 for _ in open(samples)))
    result = {"router": name, "requests": answered, "errors": report["errors"], "token_hit_ratio": report["token_hit_ratio"],
              "ttft_mean_s": seconds(report["ttft_mean_ms"]), "ttft_p50_s": seconds(report["ttft_p50_ms"]),
              "ttft_p90_s": seconds(report["ttft_p90_ms"]), "ttft_p99_s": seconds(report["ttft_p99_ms"]),
              "router_cpu_ms_per_request": round(cpu * 1000 / answered, 3), "router_rss_mb": round(rss, 1),
              "errors_by_kind": report["errors_by_kind"], "engine_work_max_over_mean": computed,
              "client_was_bottleneck": report["client_was_bottleneck"], "client_cpu_share": report["client_cpu_share"],
              "client_lag_p99_ms": report["client_lag_p99_ms"]}
    charts = {"samples": truth.read_lines(samples), "beliefs": watch.rows if watch else []}
    if watch:
        result["truth"] = truth.summary(metrics, setting.access_log, arguments.speed_up)
        charts["requests"] = truth.read_lines(setting.access_log)
    return result, charts


def seconds(milliseconds):
    return round(milliseconds / 1000, 4)


def start_engines(children, arguments):
    """Ports of as many fresh engines, all in one process."""
    command = [os.path.join(arguments.bin, "engine-sim"), "--port", ",".join(["0"] * arguments.engines),
               "--time-scale", "%g" % arguments.speed_up] + engine_words(arguments)
    engines = children.start("engines", command)
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and engines.poll() is None:
        ports = [int(port) for port in re.findall(r"http://127\.0\.0\.1:(\d+)", processes.read(engines.log_path))]
        if len(ports) == arguments.engines:
            return ports
        time.sleep(0.05)
    raise Failure("engine-sim did not start:\n" + processes.log_tail(engines))


def wait_until_it_answers(router, setting):
    """A tiny chat request must come back, then a little longer: some routers take backends in one by one."""
    body = json.dumps({"model": "sim", "messages": [{"role": "user", "content": "hello"}], "max_tokens": 1}).encode()
    request = urllib.request.Request("http://%s/v1/chat/completions" % setting.listen, body, {"Content-Type": "application/json"})
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and router.poll() is None:
        try:
            with urllib.request.urlopen(request, timeout=5) as answer:
                answer.read()
            time.sleep(2)
            return
        except (OSError, urllib.error.HTTPError):
            time.sleep(0.1)
    raise Failure("it does not answer:\n" + processes.log_tail(router))


def send(arguments, part, setting, name, samples):
    command = [os.path.join(arguments.bin, "chat-load"), "--url", "http://" + setting.listen, "--strategy", name, "--json",
               "--timeout", "3600", "--speed-up", "%g" % arguments.speed_up, "--samples", samples] + part.words()
    if os.isatty(2):
        command.append("--progress")
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    if not done.stdout:
        raise Failure("chat-load ended without a report")
    return json.loads(done.stdout)


def engine_counters(ports):
    """Prompt tokens computed on the busiest engine over the mean."""
    computed = []
    for port in ports:
        values = truth.series(truth.fetch("http://127.0.0.1:%d/metrics" % port))
        get = lambda name: next((v for k, v in values.items() if k.startswith(name)), 0.0)
        computed.append(get("vllm:prefix_cache_queries_total") - get("vllm:prefix_cache_hits_total"))
    mean = sum(computed) / len(computed)
    return round(max(computed) / mean, 2) if mean else None
