"""docs/metrics.md and an exposition, read into the same shape so that they can be compared."""
import re
from typing import NamedTuple

ROW = re.compile(r"^\| `(prefix_router_\w+)` \| (\w+) \|([^|]*)\|([^|]*)\| (.*) \|$", re.MULTILINE)
LABEL_ROW = re.compile(r"^\| `(\w+)` \| (.*) \|$", re.MULTILINE)
SAMPLE = re.compile(r"^(prefix_router_\w+?)(?:_bucket|_sum|_count)?(?:\{(.*)\})? (\S+)$")
PLAIN_SAMPLE = re.compile(r"^(prefix_router_\w+)(?:\{(.*)\})? (\S+)$")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


class Metric(NamedTuple):
    type: str
    labels: frozenset


def documented(page):
    """Name to Metric, and the rows' units and meanings by name."""
    metrics, texts = {}, {}
    for name, kind, labels, unit, meaning in ROW.findall(page):
        if name in metrics:
            raise ValueError(f"docs/metrics.md has two rows for {name}")
        metrics[name] = Metric(kind, frozenset(re.findall(r"`(\w+)`", labels)))
        texts[name] = (unit.strip(), meaning.strip())
    return metrics, texts


def documented_label_values(page):
    """Label to the set of its values, empty where they come from the configuration."""
    section = page.split("## Labels", 1)[1].split("\n## ", 1)[0]
    return {label: set(re.findall(r"`([\w.]+)`", values)) for label, values in LABEL_ROW.findall(section)}


class Exposition:
    def __init__(self, text):
        self.types = dict(re.findall(r"^# TYPE (prefix_router_\w+) (\w+)$", text, re.MULTILINE))
        self.help = dict(re.findall(r"^# HELP (prefix_router_\w+) (.*)$", text, re.MULTILINE))
        self.labels = {name: {} for name in self.types}  # name -> label -> values
        self.metrics = {}
        for line in text.splitlines():
            self.read_sample(line)
        for name, kind in self.types.items():
            self.metrics[name] = Metric(kind, frozenset(self.labels[name]) - {"le"})

    def read_sample(self, line):
        match = PLAIN_SAMPLE.match(line)
        if not match:
            return
        name = match.group(1)
        if name not in self.types:  # a part of a histogram
            name = SAMPLE.match(line).group(1)
        for label, value in LABEL.findall(match.group(2) or ""):
            self.labels[name].setdefault(label, set()).add(value)

    def bounds(self, name):
        """The finite upper bounds of a histogram's buckets, ascending."""
        return sorted(float(bound) for bound in self.labels[name]["le"] if bound != "+Inf")

    def row(self, name):
        """The row that docs/metrics.md should have."""
        metric = self.metrics[name]
        labels = ", ".join(f"`{label}`" for label in sorted(metric.labels))
        return f"| `{name}` | {metric.type} | {labels} | UNIT | {self.help.get(name, '')} |"
