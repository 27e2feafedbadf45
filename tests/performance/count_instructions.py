#!/usr/bin/env python3
"""Counts the instructions of the operations that every request pays for and compares with the record.

  count_instructions.py KEY_OPERATIONS            fails when an operation takes 5 % more than recorded
  count_instructions.py KEY_OPERATIONS --record   writes tests/performance/instructions.json

Runs bench/micro/key_operations under valgrind's callgrind. Counts do not depend on the machine's load
or clock, but on compiler, C library and vector instructions: the record has one set for each, and what
was never recorded is skipped (exit status 77). Standard library only.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

RECORD = pathlib.Path(__file__).resolve().parent / "instructions.json"
TOLERANCE = 0.05
SKIPPED = 77


def environment_of(program):
    return subprocess.run([program, "--environment"], check=True, capture_output=True,
                          text=True).stdout.strip()


def counts_in(folder):
    """{operation: instructions} of callgrind's dumps, named "operation*rounds"."""
    counts = {}
    for path in pathlib.Path(folder).glob("counts.*"):
        text = path.read_text()
        label = re.search(r"^desc: Trigger: Client Request: (\w+)\*(\d+)$", text, re.M)
        total = re.search(r"^totals: (\d+)", text, re.M)
        if label and total:
            counts[label[1]] = round(int(total[1]) / int(label[2]))
    return counts


def count(program):
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--collect-atstart=no",
                   f"--callgrind-out-file={folder}/counts", program]
        done = subprocess.run(command, capture_output=True, text=True,
                              env={"PATH": os.environ["PATH"], "LC_ALL": "C"})
        counts = counts_in(folder)
    if done.returncode != 0 or not counts:
        sys.exit(f"error: valgrind gave no counts (exit status {done.returncode}):\n{done.stderr}")
    return counts


def load_record():
    return json.loads(RECORD.read_text()) if RECORD.exists() else {}


def write_record(environment, counts):
    record = load_record()
    record[environment] = dict(sorted(counts.items()))
    RECORD.write_text(json.dumps(record, indent=2, sort_keys=True) + "\n")
    print(f"recorded {len(counts)} operations for {environment}")


def compare(recorded, counts):
    """Prints a line per operation; returns the complaints."""
    complaints = [f"{name} is recorded but was not counted" for name in recorded.keys() - counts]
    for name, now in sorted(counts.items()):
        if name not in recorded:
            complaints.append(f"{name} is not recorded")
            continue
        change = now / recorded[name] - 1
        print(f"{name:26} {now:9} instructions {change:+7.1%}")
        if change > TOLERANCE:
            complaints.append(f"{name} takes {now} instructions, {change:+.1%} of the recorded {recorded[name]}")
    return complaints


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="build/release/bin/key_operations")
    parser.add_argument("--record", action="store_true", help="write the record anew")
    arguments = parser.parse_args()
    if shutil.which("valgrind") is None:
        sys.exit("error: valgrind is missing; run scripts/install_dependencies.sh")
    environment = environment_of(arguments.program)
    counts = count(arguments.program)
    if arguments.record:
        write_record(environment, counts)
        return 0
    recorded = load_record().get(environment)
    if recorded is None:
        print(f"skipped: nothing is recorded for {environment}; --record does it")
        return SKIPPED
    complaints = compare(recorded, counts)
    for complaint in complaints:
        print("error: " + complaint, file=sys.stderr)
    if complaints:
        print("If the work is worth it, record the new counts with --record and say why in the commit.",
              file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
