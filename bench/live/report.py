"""The table on the terminal and the page with charts."""
import json
import os

from arguments import ROOT

HERE = os.path.dirname(os.path.abspath(__file__))
UPLOT = os.path.join(ROOT, "third_party/uplot")
MOST_POINTS = 400  # of a curve on the page

COLUMNS = [
    ("router", "%-28s", lambda r: r["router"]),
    ("requests", "%8s", lambda r: r["requests"]),
    ("errors", "%6s", lambda r: r["errors"]),
    ("hit ratio", "%9s", lambda r: "%.3f" % r["token_hit_ratio"]),
    ("replayed", "%8s", lambda r: optional("%.3f", r.get("replay_token_hit_ratio"))),
    ("TTFT mean", "%9s", lambda r: "%.2fs" % r["ttft_mean_s"]),
    ("replayed", "%8s", lambda r: optional("%.2fs", r.get("replay_ttft_mean_s"))),
    ("p50", "%7s", lambda r: "%.2fs" % r["ttft_p50_s"]),
    ("p99", "%7s", lambda r: "%.2fs" % r["ttft_p99_s"]),
    ("expected", "%8s", lambda r: optional("%.3fx", r.get("truth", {}).get("expected_over_reported"))),
    ("CPU/req", "%8s", lambda r: "%.2fms" % r["router_cpu_ms_per_request"]),
    ("RSS", "%7s", lambda r: "%.0fMB" % r["router_rss_mb"]),
]


def optional(pattern, value):
    return "-" if value is None else pattern % value


def header():
    return " ".join(form % title for title, form, _ in COLUMNS)


def row(result):
    text = " ".join(form % value(result) for _, form, value in COLUMNS)
    if result["client_was_bottleneck"]:
        text += "\n  (the load client itself was late, p99 %.0f ms of real time, and used %.2f of a core: the times include that)" % (
            result["client_lag_p99_ms"], result["client_cpu_share"])
    if result["errors"]:
        text += "\n  errors: " + json.dumps(result["errors_by_kind"])
    return text


def thinned(values):
    step = max(1, len(values) // MOST_POINTS)
    return values[::step]


def quantiles(values):
    ascending = sorted(values)
    points = min(MOST_POINTS, len(ascending))
    return [round(ascending[k * len(ascending) // points - 1], 4) for k in range(1, points + 1)]


def chart_values(charts):
    """What the page draws of one router: quantiles of TTFT, and its course over time."""
    good = [s for s in charts["samples"] if s["verdict"] == "good"]
    values = {"ttft_quantiles_s": quantiles([s["ttft_s"] for s in good]),
              "course": course(good), "truth_course": truth_course(charts.get("requests", [])), "beliefs": beliefs(charts["beliefs"])}
    return values


def course(samples, parts=60):
    """Mean TTFT and hit ratio in equal parts of the run."""
    if not samples:
        return []
    end = max(s["due_s"] for s in samples) or 1
    parts_of = [[] for _ in range(parts)]
    for sample in samples:
        parts_of[min(parts - 1, int(sample["due_s"] / end * parts))].append(sample)
    rows = []
    for number, part in enumerate(parts_of):
        if part:
            prompt = sum(s["prompt_tokens"] for s in part)
            rows.append([round((number + 0.5) * end / parts, 1), round(sum(s["ttft_s"] for s in part) / len(part), 4),
                         round(sum(s["cached_tokens"] for s in part) / prompt, 4) if prompt else 0])
    return rows


def truth_course(lines, window=50):
    """Expected over reported cached tokens, and measured over predicted first token, for every so many answers."""
    rows = []
    known = [line for line in lines if "reported_cached_tokens" in line]
    for begin in range(0, len(known) - window + 1, window):
        part = known[begin:begin + window]
        reported = sum(line["reported_cached_tokens"] for line in part)
        expected = sum(line["expected_cached_tokens"] for line in part)
        measured = sum(line.get("first_token_ms", 0) for line in part)
        predicted = sum(line.get("expected_first_token_ms", 0) for line in part)
        rows.append([begin + window, round(expected / reported, 4) if reported else None,
                     round(measured / predicted, 4) if predicted else None])
    return rows


def beliefs(rows):
    """backend -> [[at, capacity believed, prefill rate believed], ...]"""
    found = {}
    for one in rows:
        found.setdefault(one["backend"], []).append([one["at_s"], one["capacity_tokens"], one["prefill_tokens_per_s"] * one["speed_factor"]])
    return {name: thinned(values) for name, values in found.items()}


def write_page(path, setting, results, charts):
    data = {"setting": setting, "results": [{**result, **chart_values(chart)} for result, chart in zip(results, charts)]}
    with open(os.path.join(HERE, "page.html")) as file:
        page = file.read()
    fill = {"uplot_css": content(UPLOT, "uPlot.min.css"), "uplot_js": content(UPLOT, "uPlot.iife.min.js"),
            "page_js": content(HERE, "page.js"), "data": json.dumps(data).replace("<", "\\u003c")}
    for name, value in fill.items():
        page = page.replace("{{%s}}" % name, value, 1)
    with open(path, "w") as file:
        file.write(page)


def content(folder, name):
    with open(os.path.join(folder, name)) as file:
        return file.read()
