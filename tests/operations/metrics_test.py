#!/usr/bin/env python3
"""docs/metrics.md is what a running daemon exposes; Prometheus accepts it; alerts and dashboard ask for what exists.

usage: metrics_test.py ROUTER_BINARY ENGINE_SIM_BINARY CACHE_DIR
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

import fleet
import metrics_page
import prometheus_tools

CACHE, ENGINE_SIM, ROUTER = sys.argv.pop(3), sys.argv.pop(2), sys.argv.pop(1)
ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/metrics.md").read_text()
DOCUMENTED, TEXTS = metrics_page.documented(PAGE)
RULES = ROOT / "config/prometheus/alerts.yaml"
RULE_TESTS = ROOT / "tests/operations/alerts_test.yaml"
ALERTS = re.findall(r"^ *- alert: (\w+)$", RULES.read_text(), re.MULTILINE)
DASHBOARDS = sorted((ROOT / "config/grafana").glob("*.json"))


def setUpModule():
    global DAEMON, EXPOSITION_TEXT, EXPOSED
    DAEMON = fleet.Fleet(ROUTER, ENGINE_SIM)
    for question in ("Why blue?", "Why red?", "Why blue?"):
        DAEMON.ask(question)
    EXPOSITION_TEXT = DAEMON.counted(3)
    EXPOSED = metrics_page.Exposition(EXPOSITION_TEXT)


def tearDownModule():
    DAEMON.end()


def queries(dashboard):
    return [target["expr"] for panel in json.loads(dashboard.read_text())["panels"]
            for target in panel.get("targets", [])]


def names(expression):
    """The metrics that an expression names; parts of a histogram count as it."""
    for name in re.findall(r"prefix_router_\w+", expression):
        plain = re.sub(r"_(?:bucket|sum|count)$", "", name)
        yield name if name in DOCUMENTED else plain


class Page(unittest.TestCase):
    maxDiff = None

    def test_has_a_row_for_every_metric(self):
        missing = [EXPOSED.row(name) for name in sorted(EXPOSED.metrics) if name not in DOCUMENTED]
        self.assertEqual(missing, [], "docs/metrics.md lacks these rows; fill in the unit:\n" + "\n".join(missing))

    def test_has_no_row_for_what_is_not_exposed(self):
        gone = [name for name in DOCUMENTED if name not in EXPOSED.metrics and "Only with" not in TEXTS[name][1]]
        self.assertEqual(gone, [], "docs/metrics.md describes what the daemon does not expose: remove the row, or let its "
                                   "meaning begin with 'Only with' and the option that brings it")

    def test_tells_type_and_labels(self):
        for name in sorted(DOCUMENTED.keys() & EXPOSED.metrics.keys()):
            self.assertEqual(DOCUMENTED[name], EXPOSED.metrics[name], f"{name}: correct its row to {EXPOSED.row(name)}")

    def test_tells_unit_and_meaning(self):
        for name, (unit, meaning) in TEXTS.items():
            self.assertTrue(unit and unit != "UNIT", f"{name} has no unit in docs/metrics.md")
            self.assertTrue(meaning, f"{name} has no meaning in docs/metrics.md")

    def test_bounds_every_label(self):
        known = metrics_page.documented_label_values(PAGE)
        for name, labels in EXPOSED.labels.items():
            for label, values in labels.items():
                self.assertIn(label, known, f"docs/metrics.md does not tell the values of {label} (of {name})")
                if known[label]:
                    self.assertLessEqual(values, known[label],
                                         f"docs/metrics.md lacks values of {label}: {sorted(values - known[label])}")

    def test_names_no_label_value_that_is_gone(self):
        exposed = {}
        for labels in EXPOSED.labels.values():
            for label, values in labels.items():
                exposed.setdefault(label, set()).update(values)
        for label, values in metrics_page.documented_label_values(PAGE).items():
            self.assertLessEqual(values, exposed.get(label, set()), f"docs/metrics.md: values of {label}")


class Exposition(unittest.TestCase):
    def test_has_buckets_fit_for_inference(self):
        for name, metric in EXPOSED.metrics.items():
            if metric.type == "histogram" and name.endswith("_seconds") and "decision" not in name:
                bounds = EXPOSED.bounds(name)
                self.assertEqual((bounds[0], bounds[-1]), (0.005, 600.0), name)
                self.assertTrue(all(b / a <= 4 for a, b in zip(bounds, bounds[1:])), f"{name}: {bounds}")

    def test_grows_with_backends_only(self):
        for name, labels in EXPOSED.labels.items():
            self.assertLessEqual(len(labels.get("backend", ())), 2, name)


class Prometheus(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.promtool, cls.prometheus = prometheus_tools.find(CACHE)

    def check(self, *arguments, text=None):
        result = subprocess.run([self.promtool, *map(str, arguments)], input=text, capture_output=True, text=True,
                                check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)

    def test_finds_no_fault_in_the_exposition(self):
        self.check("check", "metrics", text=EXPOSITION_TEXT)

    def test_accepts_the_configuration_and_the_rules(self):
        self.check("check", "config", ROOT / "config/prometheus/prometheus.yaml")
        self.check("check", "rules", RULES)

    def test_fires_each_alert_when_it_should(self):
        self.check("test", "rules", RULE_TESTS)

    def test_runs_every_rule_and_every_query_of_the_dashboards(self):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as log:
            port = fleet.free_port()
            settings = (ROOT / "config/prometheus/prometheus.yaml").read_text()
            config = pathlib.Path(folder) / "prometheus.yaml"
            config.write_text(settings.replace("localhost:9191", f"localhost:{DAEMON.admin_port}")
                              .replace("alerts.yaml", str(RULES)))
            server = subprocess.Popen([self.prometheus, f"--config.file={config}", f"--storage.tsdb.path={folder}/data",
                                       f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log)
            try:
                self.ask_prometheus(f"http://127.0.0.1:{port}")
            finally:
                server.terminate()
                server.wait()

    def ask_prometheus(self, url):
        subprocess.run(["curl", "-sf", "--retry", "60", "--retry-delay", "1", "--retry-all-errors", "-o", "/dev/null",
                        f"{url}/-/ready"], check=True)
        groups = json.loads(fleet.get(f"{url}/api/v1/rules"))["data"]["groups"]
        self.assertEqual([rule["name"] for group in groups for rule in group["rules"]], ALERTS)
        for dashboard in DASHBOARDS:
            for query in queries(dashboard):
                plain = re.sub(r"\$__rate_interval|\$__range", "5m", query)
                plain = re.sub(r"\$\{?\w+\}?", ".+", plain)
                answer = fleet.get(f"{url}/api/v1/query?" + urllib.parse.urlencode({"query": plain}))
                self.assertEqual(json.loads(answer)["status"], "success", plain)


class Alerts(unittest.TestCase):
    def test_have_a_unit_test_each(self):
        tested = re.findall(r"^ *- alertname: (\w+)$", RULE_TESTS.read_text(), re.MULTILINE)
        self.assertEqual(sorted(set(tested)), sorted(ALERTS), "tests/operations/alerts_test.yaml: one test per alert")

    def test_have_a_row_each_in_the_runbook(self):
        rows = re.findall(r"^\| `(PrefixRouter\w+)` \|", (ROOT / "docs/runbook.md").read_text(), re.MULTILINE)
        self.assertEqual(sorted(rows), sorted(ALERTS), "docs/runbook.md: one row per alert of alerts.yaml")

    def test_and_documents_name_metrics_that_exist(self):
        for path in (RULES, RULE_TESTS, ROOT / "docs/runbook.md"):
            for name in names(path.read_text()):
                self.assertTrue(name in DOCUMENTED, f"{path.name} names {name}, which docs/metrics.md does not have")


class Dashboards(unittest.TestCase):
    def test_query_metrics_that_exist(self):
        for dashboard in DASHBOARDS:
            self.assertGreater(len(queries(dashboard)), 20)
            for query in queries(dashboard):
                self.assertTrue(list(names(query)), query)
                for name in names(query):
                    self.assertTrue(name in DOCUMENTED, f"{dashboard.name} asks for {name}: not in docs/metrics.md")

    def test_place_every_panel_apart(self):
        for dashboard in DASHBOARDS:
            taken = set()
            for panel in json.loads(dashboard.read_text())["panels"]:
                place = panel["gridPos"]
                cells = {(place["x"] + i, place["y"] + j) for i in range(place["w"]) for j in range(place["h"])}
                self.assertFalse(cells & taken, panel["title"])
                self.assertLessEqual(place["x"] + place["w"], 24, panel["title"])
                taken |= cells


if __name__ == "__main__":
    unittest.main()
