"""bench/dataplane.sh runs this: what proxies spend on the same requests, in interleaved rounds."""
import argparse
import os
import signal
import sys
import tempfile

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../shared"))

import growth
import peers
import report
from rounds import Bench
from workloads import WORKLOADS


def say(text):
    print(text, file=sys.stderr, flush=True)


def parse():
    parser = argparse.ArgumentParser(prog="bench/dataplane.sh", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter runs: within 4 minutes")
    parser.add_argument("--json", action="store_true", help="print one JSON object per workload and metric")
    parser.add_argument("--threads", type=int, default=1, help="of the router, nginx's workers, haproxy's threads (1)")
    parser.add_argument("--rounds", type=int, help="rounds (quick 5, else 15)")
    parser.add_argument("--workloads", default=",".join(WORKLOADS), help="some of " + ",".join(WORKLOADS))
    parser.add_argument("--metrics", default="", help="only those whose name begins so, e.g. cpu")
    parser.add_argument("--smg", action="store_true", help="smg beside the others")
    parser.add_argument("--prototype", metavar="PROGRAM", help="a program with the prototype's command line beside them")
    parser.add_argument("--baseline", metavar="PROGRAM", help="another build of prefix-router beside them")
    parser.add_argument("--growth", action="store_true",
                        help="the router alone, as prompts, backends, map, connections, held requests and models grow")
    parser.add_argument("--peers", help="only these of router,nginx,haproxy and those asked for")
    parser.add_argument("--bin", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--tools", required=True, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.rounds = arguments.rounds or (5 if arguments.quick else 15)
    arguments.run_seconds = 1.0 if arguments.quick else 2.0
    arguments.workloads = arguments.workloads.split(",")
    unknown = [name for name in arguments.workloads if name not in WORKLOADS]
    if unknown:
        parser.error("no workload %s; there are %s" % (" ".join(unknown), " ".join(WORKLOADS)))
    return arguments


def growth_table(arguments):
    with tempfile.TemporaryDirectory() as folder:
        rows = list(growth.measure(arguments, folder, say))
    print(report.as_json(rows) if arguments.json else growth.as_table(rows))
    return 0


def main():
    arguments = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that children are ended
    if arguments.growth:
        return growth_table(arguments)
    names = peers.wanted(arguments)
    with tempfile.TemporaryDirectory() as folder:
        try:
            with Bench(arguments, names, folder) as bench:
                for number in range(arguments.rounds):
                    say("round %d of %d" % (number + 1, arguments.rounds))
                    bench.round(number)
        except KeyboardInterrupt:
            return 130
    rows = report.rows(bench.samples, names)
    print(report.as_json(rows) if arguments.json else report.as_table(rows, names))
    for warning in bench.warnings():
        say("warning: " + warning)
    return 1 if bench.errors else 0


if __name__ == "__main__":
    sys.exit(main())
