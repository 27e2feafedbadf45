"""What our own router believed, beside what came: its metrics and its access log, in the trace's seconds."""
import json
import re
import threading
import time
import urllib.request


def fetch(url):
    with urllib.request.urlopen(url, timeout=5) as answer:
        return answer.read().decode()


def series(text):
    """Metric name with labels -> value."""
    found = {}
    for line in text.splitlines():
        match = re.match(r"([\w:]+(?:\{.*\})?) ([-+.\deE]+|NaN|\+Inf)$", line)
        if match:
            found[match.group(1)] = float(match.group(2))
    return found


def backends(setting):
    return json.loads(fetch("http://127.0.0.1:%d/backends" % setting.admin_port))["backends"]


class Watch:
    """Reads /backends of the admin listener now and then while the load runs: believed capacity and rates over time."""

    def __init__(self, setting):
        self.setting = setting
        self.speed_up = setting.speed_up
        self.rows = []
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.begun = time.monotonic()
        self.thread.start()

    def run(self):
        while not self.ended.wait(1.0):
            try:
                state = backends(self.setting)
            except OSError:
                continue
            now = (time.monotonic() - self.begun) * self.speed_up
            for backend in state:
                self.rows.append({"at_s": round(now, 1), "backend": backend["id"], "url": backend["url"],
                                  "capacity_tokens": backend["capacity_tokens"], "overhead_s": backend["overhead_s"],
                                  "prefill_tokens_per_s": backend["prefill_tokens_per_s"],
                                  "speed_factor": backend["speed_factor"], "lanes": backend["lanes"]})

    def end(self):
        self.ended.set()
        self.thread.join()
        return fetch("http://127.0.0.1:%d/metrics" % self.setting.admin_port)


def summary(metrics_text, access_log, speed_up):
    """Expected against reported cached tokens, predicted against measured first token, decision times."""
    values = series(metrics_text)
    get = lambda name: values.get("prefix_router_" + name, 0.0)
    result = {"expected_cached_tokens": int(get("expected_cached_tokens_total")),
              "reported_cached_tokens": int(get("reported_cached_tokens_total")),
              "estimated_prompt_tokens": int(get("prompt_tokens_total")),
              "reported_prompt_tokens": int(get("reported_prompt_tokens_total")),
              # Measured with the routing's clock, which runs faster.
              "decision_p50_us": quantile(values, "prefix_router_decision_seconds", 0.5) / speed_up * 1e6,
              "decision_p99_us": quantile(values, "prefix_router_decision_seconds", 0.99) / speed_up * 1e6}
    if result["reported_cached_tokens"]:
        result["expected_over_reported"] = result["expected_cached_tokens"] / result["reported_cached_tokens"]
    result["backends"] = by_backend(read_lines(access_log))
    return result


def quantile(values, name, rank):
    """The upper bound of the histogram's bucket that the quantile lies in."""
    buckets = sorted((float(re.search(r'le="([^"]+)"', key).group(1)), count)
                     for key, count in values.items() if key.startswith(name + "_bucket"))
    total = buckets[-1][1] if buckets else 0
    for bound, count in buckets:
        if total and count >= rank * total:
            return bound
    return 0.0


def read_lines(path):
    try:
        with open(path) as file:
            return [json.loads(line) for line in file if line.startswith("{")]
    except OSError:
        return []


def by_backend(lines):
    """backend -> sums of tokens, and the median of measured over predicted time to first token."""
    found = {}
    for line in lines:
        if "backend" not in line or "reported_cached_tokens" not in line:
            continue
        row = found.setdefault(line["backend"], {"requests": 0, "expected_cached_tokens": 0, "reported_cached_tokens": 0, "ratios": []})
        row["requests"] += 1
        row["expected_cached_tokens"] += line["expected_cached_tokens"]
        row["reported_cached_tokens"] += line["reported_cached_tokens"]
        if line.get("expected_first_token_ms") and line.get("first_token_ms"):
            row["ratios"].append(line["first_token_ms"] / line["expected_first_token_ms"])
    for row in found.values():
        ratios = sorted(row.pop("ratios"))
        for name, rank in (("p10", 0.1), ("p50", 0.5), ("p90", 0.9)):
            row["first_token_over_expected_" + name] = round(ratios[int(rank * (len(ratios) - 1))], 3) if ratios else None
    return dict(sorted(found.items()))
