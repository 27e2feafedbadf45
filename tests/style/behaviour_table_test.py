#!/usr/bin/env python3
"""docs/behaviour.md decides every scenario of tests/scenarios/SCENARIOS.md, and names only tests that exist."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = (ROOT / "docs/behaviour.md").read_text()
ROWS = [line for line in TABLE.splitlines() if re.match(r"\| (B\d|-)", line)]


def known_tests():
    names = set()
    for path in (ROOT / "tests").rglob("*.cpp"):
        names.update(re.findall(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", path.read_text(), re.M))
    return names


class BehaviourTable(unittest.TestCase):
    def test_decides_every_scenario_once(self):
        scenarios = re.findall(r"^### (B\d+) ", (ROOT / "tests/scenarios/SCENARIOS.md").read_text(), re.M)
        decided = [number for row in ROWS for number in re.findall(r"B\d+", row.split("|")[1])]
        self.assertEqual(sorted(decided), sorted(scenarios))

    def test_names_tests_that_exist(self):
        tests = known_tests()
        suites = {suite for suite, _ in tests}
        for row in ROWS:
            held_by = row.split("|")[3]
            self.assertTrue(held_by.strip(), row)
            for suite, name in re.findall(r"`(\w+)\.(\w+|\*)`", held_by):
                self.assertTrue(suite in suites if name == "*" else (suite, name) in tests, f"{suite}.{name}")
            for script in re.findall(r"(?:open|own)/b\w+", held_by):
                self.assertTrue(list((ROOT / "tests/scenarios").glob(script + "*.py")), script)
            for path in re.findall(r"`(tests/\S+)`", held_by):
                self.assertTrue((ROOT / path).exists(), path)


if __name__ == "__main__":
    unittest.main()
