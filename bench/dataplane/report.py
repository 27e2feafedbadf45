"""Medians, paired ratios and their quartiles; as a table or as JSON."""
import json
import statistics

from workloads import RATES, WORKLOADS


def quartiles(values):
    """(first quartile, median, third quartile)"""
    if len(values) < 2:
        return tuple(values * 3)
    first, middle, third = statistics.quantiles(values, n=4, method="inclusive")
    return first, middle, third


def ratios(metric, ours, theirs):
    """How many times better the router is, round by round."""
    pairs = [(a, b) for a, b in zip(ours, theirs) if a > 0 and b > 0]
    return [a / b if metric in RATES else b / a for a, b in pairs]


def rows(samples, names):
    found = []
    for (workload, metric), by_name in samples.items():
        row = {"workload": workload, "metric": metric}
        for name in names:
            row[name] = rounded(statistics.median(by_name[name])) if by_name.get(name) else None
        for name in names[1:]:
            paired = ratios(metric, by_name.get(names[0], []), by_name.get(name, []))
            first, middle, third = quartiles(paired) if paired else (None, None, None)
            row["ratio_" + name] = rounded(middle)
            row["ratio_%s_quartiles" % name] = [rounded(first), rounded(third)]
        row["floor_met"] = verdict(WORKLOADS[workload], row)
        found.append(row)
    return found


def verdict(workload, row):
    """True or False where the metric has a floor, else None."""
    if row["metric"] != workload.cost:
        return None
    bounds = [(row.get("ratio_nginx"), workload.floor), (row.get("ratio_haproxy"), workload.floor_haproxy)]
    checks = [ratio >= floor for ratio, floor in bounds if ratio is not None and floor is not None]
    if workload.most_kb is not None and row.get("router") is not None:
        checks.append(row["router"] <= workload.most_kb)
    return all(checks) if checks else None


def rounded(value):
    return None if value is None else float("%.3g" % value)


def as_json(found):
    return "\n".join(json.dumps(row) for row in found)


def as_table(found, names):
    lines = []
    for key in dict.fromkeys(row["workload"] for row in found):
        lines.append("%s  %s" % (key, WORKLOADS[key].title))
        lines.append("    %-22s" % "" + "".join("%10s" % name for name in names) +
                     "".join("%24s" % ("against " + name) for name in names[1:]) + "   floor")
        lines += [line(row, names) for row in found if row["workload"] == key]
    return "\n".join(lines)


def line(row, names):
    text = "    %-22s" % row["metric"] + "".join("%10s" % show(row[name]) for name in names)
    for name in names[1:]:
        low, high = row["ratio_%s_quartiles" % name]
        text += "%24s" % ("%s (%s - %s)" % (show(row["ratio_" + name]), show(low), show(high)))
    return text + {True: "   met", False: "   MISSED", None: ""}[row["floor_met"]]


def show(value):
    return "-" if value is None else "%g" % value
