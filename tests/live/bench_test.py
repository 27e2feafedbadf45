#!/usr/bin/env python3
"""bench/live sends a trace through the daemon, and what comes back agrees with the virtual replay and with what the
daemon believed.

  tests/live/bench_test.py BIN_FOLDER
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

BIN = sys.argv[1]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TRACE = os.path.join(ROOT, "tests/simulation/oracle/chat.jsonl.xz")


def live(*words):
    command = [sys.executable, "-B", os.path.join(ROOT, "bench/live"), "--bin", BIN, "--trace", TRACE, "--engines", "2",
               "--kv-tokens", "60000", "--speed-up", "20", "--minutes", "0.1", "--json", *words]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


class Bench(unittest.TestCase):
    def test_adaptive_is_on_the_wire_what_it_is_in_the_replay(self):
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "page.html")
            code, results, said = live("--routers", "adaptive,least_outstanding_requests", "--html", page)
            self.assertEqual(code, 0, said)
            with open(page) as file:
                text = file.read()
        adaptive, other = results
        self.assertGreater(adaptive["requests"], 150)
        self.assertEqual(adaptive["errors"], 0)
        self.assertAlmostEqual(adaptive["token_hit_ratio"], adaptive["replay_token_hit_ratio"], delta=0.05)
        self.assertAlmostEqual(adaptive["truth"]["expected_over_reported"], 1, delta=0.05)
        self.assertGreater(adaptive["token_hit_ratio"], other["token_hit_ratio"])
        self.assertGreater(adaptive["router_cpu_ms_per_request"], 0)
        self.assertIn('"router": "least_outstanding_requests"', text)
        self.assertNotIn("{{", text)

    def test_another_router_is_started_by_its_command(self):
        command = os.path.join(BIN, "prefix-router") + " --listen {listen} --admin off {each:--backend http://127.0.0.1:%d}"
        code, results, said = live("--routers", "", "--router-cmd", "mine=" + command)
        self.assertEqual((code, [result["router"] for result in results]), (0, ["mine"]), said)

    def test_a_router_that_does_not_start_is_an_error_and_says_why(self):
        code, results, said = live("--routers", "", "--router-cmd", "broken=sh -c 'echo no such luck; exit 1'")
        self.assertEqual((code, results), (1, []))
        self.assertIn("no such luck", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
