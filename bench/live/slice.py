"""Which part of the trace is sent, and how fast: the same for the wire and for the virtual replay."""
import gzip
import json
import lzma
import os
import subprocess

from arguments import engine_words

OPENERS = {b"\x1f\x8b": gzip.open, b"\xfd7": lzma.open}


class Slice:
    def __init__(self, arguments):
        self.arguments = arguments
        self.closed_loop = arguments.closed_loop
        if self.closed_loop is None:
            self.closed_loop = has_sessions(arguments.trace)
        load = arguments.load
        if load is None and arguments.speed is None and not self.closed_loop:
            load = 0.85
        self.speed = self.speed_for(load) if load else arguments.speed or 1.0
        # Seconds of the recording that pass in the minutes asked for.
        self.until = arguments.minutes * 60 * arguments.speed_up * self.speed

    def words(self):
        """The options that chat-load and the replay have in common."""
        words = ["--trace", self.arguments.trace, "--speed", "%.9g" % self.speed, "--until", "%.3f" % self.until,
                 "--seed", str(self.arguments.seed)]
        if self.arguments.sessions:
            words += ["--sessions", str(self.arguments.sessions)]
        return words + (["--closed-loop"] if self.closed_loop else [])

    def speed_for(self, load):
        """Of the whole trace: a slice from its start, with cold caches, would tell another speed."""
        words = ["--trace", self.arguments.trace, "--load", "%g" % load, "--seed", str(self.arguments.seed)]
        if self.arguments.sessions:
            words += ["--sessions", str(self.arguments.sessions)]
        return replay(self.arguments, words, ["random"])["random"]["time_scale"]

    def replayed(self, strategies):
        """strategy -> the virtual replay's result for the slice."""
        return replay(self.arguments, self.words(), strategies)


def replay(arguments, words, strategies):
    command = [os.path.join(arguments.bin, "prefix-router"), "replay", "--json", "--backends", str(arguments.engines),
               "--strategy", ",".join(strategies)] + engine_words(arguments) + words
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit("bench/live.sh: %s" % done.stderr.strip())
    return {result["strategy"]: result for result in map(json.loads, done.stdout.splitlines())}


def has_sessions(path):
    with open(path, "rb") as file:
        start = file.read(2)
    with OPENERS.get(start, open)(path, "rt") as lines:
        for _, line in zip(range(3), lines):
            if '"session"' in line:
                return True
    return False
