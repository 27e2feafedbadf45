#!/usr/bin/env python3
"""Replays the public traces and checks the bars that the adaptive strategy has to hold.

    bench/replay_table.py --traces DIR [--router build/release/bin/prefix-router] [--only REGEX] [--seeds 1,2,3] [--jobs 1]

DIR holds conversation_trace, synthetic_trace (Mooncake), toolagent_like and claude_code_dev as .jsonl, .jsonl.gz or .jsonl.xz.
Prints one line per bar: the mean over the seeds, the bar, and whether it holds. Exit code 1 when one does not.
"""
import argparse
import concurrent.futures
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile

RIVALS = ["rival_cache_aware", "rival_blend", "rival_sticky", "rival_bounded_hash", "rival_product", "rival_kv_router"]
BASELINES = ["prefix_aware", "least_outstanding_requests", "round_robin", "random"]

CONVERSATION = ("conversation_trace", "--kv-tokens 500000 --load 0.85")
CONVERSATION_2M = ("conversation_trace", "--kv-tokens 2000000 --load 0.85")
SYNTHETIC = ("synthetic_trace", "--kv-tokens 500000 --load 0.85")
TOOLAGENT = ("toolagent_like", "--kv-tokens 500000 --load 0.85")
CLAUDE_90 = ("claude_code_dev", "--closed-loop --sessions 90 --speed 2 --kv-tokens 500000")
CLAUDE_250 = ("claude_code_dev", "--closed-loop --sessions 250 --speed 5 --kv-tokens 2000000")
CLAUDE_ALL = ("claude_code_dev", "--closed-loop --speed 5 --kv-tokens 2000000")
LANES = ("conversation_trace", "--backends 2 --lanes 4 --kv-tokens 2000000 --load 0.6")

# name, row, mean TTFT at most, token hit ratio at least
TABLE = [
    ("conversation 0.5M", CONVERSATION, 2.5, 0.155),
    ("conversation 2M", CONVERSATION_2M, 2.25, 0.31),
    ("synthetic", SYNTHETIC, 5.7, 0.375),
    ("toolagent_like", TOOLAGENT, 1.08, 0.565),
    ("claude_code 90", CLAUDE_90, 0.85, 0.94),
    ("claude_code 250", CLAUDE_250, 1.45, 0.955),
]
QUEUED = [("conversation 0.5M", CONVERSATION, 1.9), ("conversation 2M", CONVERSATION_2M, 1.75),
          ("toolagent_like", TOOLAGENT, 0.85), ("synthetic", SYNTHETIC, 2.7)]
BY_POSITION = [
    ("claude_code 80", ("claude_code_dev", "--closed-loop --sessions 80 --speed 2 --kv-tokens 500000 --prefill-rate 16000 --attention-length 32000"), 1.2),
    ("claude_code 90", ("claude_code_dev", "--closed-loop --sessions 90 --speed 2 --kv-tokens 500000 --prefill-rate 16000 --attention-length 32000"), 1.55),
    ("claude_code 100", ("claude_code_dev", "--closed-loop --sessions 100 --speed 2 --kv-tokens 500000 --prefill-rate 16000 --attention-length 32000"), 2.5),
    ("conversation", ("conversation_trace", "--kv-tokens 500000 --prefill-rate 12000 --load 0.75 --attention-length 32000"), 2.05),
    ("toolagent_like", ("toolagent_like", "--kv-tokens 500000 --prefill-rate 12000 --load 0.75 --attention-length 32000"), 1.03),
    ("claude_code 90, interleaved", ("claude_code_dev", "--closed-loop --sessions 90 --speed 2 --kv-tokens 500000 --prefill-rate 16000 --attention-length 32000 --interleave 4"), 1.25),
    ("claude_code 250, interleaved, no positions", ("claude_code_dev", CLAUDE_250[1] + " --interleave 4"), 0.82),
]


class Bench:
    def __init__(self, arguments):
        self.router, self.traces, self.seeds = arguments.router, arguments.traces, arguments.seeds
        self.only = re.compile(arguments.only)
        self.pool = concurrent.futures.ThreadPoolExecutor(arguments.jobs)
        self.cache = {}
        self.failed = self.held = 0

    def trace_file(self, name):
        if os.path.sep in name:
            return name
        for suffix in (".jsonl", ".jsonl.gz", ".jsonl.xz"):
            path = os.path.join(self.traces, name + suffix)
            if os.path.exists(path):
                return path
        sys.exit("no %s.jsonl[.gz|.xz] in %s" % (name, self.traces))

    def run(self, row, more, strategies):
        """strategy -> means over the seeds of the measured values."""
        trace, options = row
        words = [self.router, "replay", "--trace", self.trace_file(trace), "--json"] + (options + " " + more).split()
        missing = [s for s in strategies if (trace, options, more, s) not in self.cache]
        if missing:
            commands = [words + ["--seed", str(seed), "--strategy", ",".join(missing)] for seed in self.seeds]
            outputs = list(self.pool.map(self.output_of, commands))
            runs = [{r["strategy"]: r for r in map(json.loads, o.splitlines())} for o in outputs]
            for s in missing:
                keys = ("token_hit_ratio", "ttft_mean_s", "ttft_p50_s", "ttft_p90_s", "ttft_p99_s")
                self.cache[trace, options, more, s] = {k: sum(r[s][k] for r in runs) / len(runs) for k in keys}
        return {s: self.cache[trace, options, more, s] for s in strategies}

    @staticmethod
    def output_of(command):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit("%s\n%s" % (" ".join(command), done.stderr))
        return done.stdout

    def adaptive(self, row, more):
        return self.run(row, more, ["adaptive"])["adaptive"]

    def bar(self, what, value, limit, at_least=False):
        holds = value >= limit if at_least else value <= limit
        self.failed += not holds
        self.held += holds
        print("%s  %-78s %8.3f %s %.3f" % ("pass" if holds else "FAIL", what, value, ">=" if at_least else "<=", limit), flush=True)

    def wants(self, section):
        if not self.only.search(section):
            return False
        print("\n# " + section, flush=True)
        return True

    def below_all(self, name, row, more, margin):
        others = RIVALS + BASELINES
        result = self.run(row, more, ["adaptive"])
        result.update(self.run(row, more.replace("--hold off", "").strip(), others))  # only adaptive holds
        best = min(others, key=lambda s: result[s]["ttft_mean_s"])
        self.bar("%s: mean TTFT against the best other, %s" % (name, best), result["adaptive"]["ttft_mean_s"],
                 margin * result[best]["ttft_mean_s"])


def margin_of(row):
    return 1.10 if row[0] == "claude_code_dev" else 1.03


def check_table(bench):
    if not bench.wants("at once: nothing held, capacity known"):
        return
    for name, row, mean, hit in TABLE:
        got = bench.adaptive(row, "--hold off")
        bench.bar(name + ": mean TTFT, s", got["ttft_mean_s"], mean)
        bench.bar(name + ": token hit ratio", got["token_hit_ratio"], hit, at_least=True)
        bench.below_all(name, row, "--hold off", margin_of(row))


def check_queue(bench):
    for more, kind in (("", "FIFO"), ("--interleave 4", "interleaved")):
        if not bench.wants("queue, %s: the queue on, its defaults" % kind):
            continue
        for name, row, mean in QUEUED:
            got, at_once = bench.adaptive(row, more), bench.adaptive(row, more + " --hold off")
            bench.bar(name + ": mean TTFT, s", got["ttft_mean_s"], mean)
            bench.bar(name + ": p99, s, against 1.25x sent at once", got["ttft_p99_s"], 1.25 * at_once["ttft_p99_s"])
        for name, row in (("claude_code 90", CLAUDE_90), ("claude_code 250", CLAUDE_250)):
            got, at_once = bench.adaptive(row, more), bench.adaptive(row, more + " --hold off")
            bench.bar(name + ": mean TTFT, s, against 1.1x sent at once", got["ttft_mean_s"], 1.1 * at_once["ttft_mean_s"])
        bench.bar("claude_code, all sessions: mean TTFT, s", bench.adaptive(CLAUDE_ALL, more)["ttft_mean_s"], 1.15 if more else 1.75)
    if bench.wants("queue, hard cases: lanes, small caches"):
        got, at_once = bench.adaptive(LANES, ""), bench.adaptive(LANES, "--hold off")
        bench.bar("4 lanes: mean TTFT, s, against 1.1x sent at once", got["ttft_mean_s"], 1.1 * at_once["ttft_mean_s"])
        for kv, mean, hit in ((1500000, 4.8, 0.925), (1000000, 52, 0.65)):
            row = ("claude_code_dev", "--closed-loop --sessions 250 --speed 5 --kv-tokens %d" % kv)
            got = bench.adaptive(row, "")
            bench.bar("claude_code 250, kv %d: mean TTFT, s" % kv, got["ttft_mean_s"], mean)
            bench.bar("claude_code 250, kv %d: token hit ratio" % kv, got["token_hit_ratio"], hit, at_least=True)


def check_rivals_with_queue(bench):
    if not bench.wants("queue, rivals: at or below every rival and every other strategy"):
        return
    for name, row, _, _ in TABLE:
        bench.below_all(name, row, "", margin_of(row))


def check_capacity(bench):
    if bench.wants("capacity learned: sent at once, 1.25x the table"):
        for name, row, mean, _ in TABLE:
            got = bench.adaptive(row, "--hold off --capacity learned")
            bench.bar(name + ": mean TTFT, s", got["ttft_mean_s"], 1.25 * mean)
    if bench.wants("capacity 0.3x: believed at 0.3x and learned, the queue on, 2x the table"):
        for name, row, mean, _ in TABLE:
            bench.bar(name + ": mean TTFT, s", bench.adaptive(row, "--capacity 0.3")["ttft_mean_s"], 2 * mean)


def check_positions(bench):
    if not bench.wants("positions: prefill by position, interleaving engines; sent at once"):
        return
    for name, row, mean in BY_POSITION:
        bench.bar(name + ": mean TTFT, s", bench.adaptive(row, "--hold off")["ttft_mean_s"], mean)
        bench.below_all(name, row, "--hold off", 1.0)


def write_unrelated(path):
    """8,000 prompts of 1,000 to 20,000 tokens that share nothing."""
    chance, now, block = random.Random(5), 0.0, 0
    with open(path, "w") as out:
        for _ in range(8000):
            now += chance.expovariate(1 / 300)
            length = int(chance.uniform(1000, 20000))
            ids = list(range(block, block + length // 512))
            block += len(ids)
            out.write(json.dumps({"timestamp": round(now), "input_length": length, "output_length": int(chance.uniform(1, 600)), "hash_ids": ids}) + "\n")


def check_unrelated(bench):
    if not bench.wants("unrelated: prompts with nothing in common"):
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "unrelated.jsonl")
        write_unrelated(path)
        for load in (0.5, 0.7, 0.85, 0.95):
            for more in ("", "--hold off"):
                got = bench.run((path, "--load %g" % load), more, ["adaptive", "least_outstanding_requests"])
                bench.bar("load %.2f %s: mean TTFT, s, against least_outstanding_requests" % (load, more or "--hold auto"),
                          got["adaptive"]["ttft_mean_s"], 1.02 * got["least_outstanding_requests"]["ttft_mean_s"])


def check_cost(bench):
    if not bench.wants("cost: CPU time"):
        return
    def cpu(more):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        words = [bench.router, "replay", "--trace", bench.trace_file("conversation_trace"), "--load", "0.85", "--strategy", "adaptive", "--json"]
        subprocess.run(words + more.split(), check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    bench.bar("conversation, 8 backends: CPU, s", cpu(""), 3)
    bench.bar("conversation, 8 backends, sent at once: CPU, s", cpu("--hold off"), 3)
    bench.bar("200 backends, prompts of 64 blocks: CPU of a decision, us", decision_us(bench, 200), 60)
    # Engines, trace reader and three router calls per request, over its 12,031 requests: no bar, it measures the model as much.
    print("      conversation, 200 backends: CPU of a request's whole replay, us %25.1f" % (cpu("--backends 200 --hold off") / 12031 * 1e6), flush=True)


def decision_us(bench, backends):
    """Of the routing calls alone: the median of five runs of the micro benchmark that lies beside the router's binary."""
    program = os.path.join(os.path.dirname(bench.router), "routing_bench")
    if not os.path.exists(program):
        sys.exit("no %s: build it (scripts/build.sh release routing_bench)" % program)
    done = subprocess.run([program, "--benchmark_filter=backends:%d/holds:0/" % backends, "--benchmark_repetitions=5", "--benchmark_format=json"],
                          capture_output=True, text=True, check=True)
    rows = [row for row in json.loads(done.stdout)["benchmarks"] if row.get("aggregate_name") == "median"]
    if len(rows) != 1:
        sys.exit("%s: no single row for %d backends" % (program, backends))
    return rows[0]["real_time"] * {"ns": 1e-3, "us": 1, "ms": 1e3}[rows[0]["time_unit"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", required=True)
    parser.add_argument("--router", default="build/release/bin/prefix-router")
    parser.add_argument("--only", default="", help="sections whose title matches this")
    parser.add_argument("--seeds", default="1,2,3", type=lambda text: [int(s) for s in text.split(",")])
    parser.add_argument("--jobs", type=int, default=1)
    bench = Bench(parser.parse_args())
    for check in (check_table, check_queue, check_capacity, check_positions, check_unrelated, check_cost, check_rivals_with_queue):
        check(bench)
    print("\n%d bars hold, %d do not" % (bench.held, bench.failed))
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
