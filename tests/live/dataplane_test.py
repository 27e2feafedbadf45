#!/usr/bin/env python3
"""bench/dataplane runs the router alone through each kind of measurement: every answer's bytes are right, every metric has
a figure. Says nothing about speed.

  tests/live/dataplane_test.py BIN_FOLDER
"""
import json
import os
import subprocess
import sys
import unittest

BIN = sys.argv[1]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def bench(*words):
    command = [sys.executable, "-B", os.path.join(ROOT, "bench/dataplane"), "--bin", BIN, "--tools", "none", "--quick",
               "--rounds", "1", "--json", *words]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


class Dataplane(unittest.TestCase):
    def test_every_kind_of_workload_is_answered_byte_for_byte_and_measured(self):
        code, rows, said = bench("--peers", "router", "--workloads", "W1,W3,W4,W6,W7")
        self.assertEqual(code, 0, said)
        found = {(row["workload"], row["metric"]): row["router"] for row in rows}
        for key in (("W1", "cpu_us_per_request"), ("W1", "requests_per_second"), ("W3", "cpu_us_per_request"),
                    ("W4", "cpu_us_per_event"), ("W4", "event_delay_p99_us"), ("W6", "cpu_us_per_request"),
                    ("W7", "rss_kb_per_connection")):
            self.assertGreater(found.get(key, 0), 0, key)
        self.assertIn(("W1", "added_p99_us"), found)

    def test_two_builds_are_compared_by_paired_ratios(self):
        code, rows, said = bench("--peers", "router,baseline", "--baseline", os.path.join(BIN, "prefix-router"), "--workloads", "W1",
                                 "--metrics", "cpu")
        self.assertEqual(code, 0, said)
        row = rows[0]
        self.assertAlmostEqual(row["ratio_baseline"], row["baseline"] / row["router"], delta=0.02 * row["ratio_baseline"])
        self.assertIsNone(row["floor_met"])

    def test_a_proxy_that_does_not_start_is_an_error_and_says_why(self):
        code, rows, said = bench("--peers", "prototype", "--prototype", "/bin/false")
        self.assertEqual((code, rows), (1, []))
        self.assertIn("prototype did not start", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
