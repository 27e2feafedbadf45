"""The command line of bench/live.sh."""
import argparse
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DEFAULT_ROUTERS = "adaptive,prefix_aware,least_outstanding_requests,nginx,smg"
ENGINE_OPTIONS = ("kv_tokens", "prefill_rate", "overhead", "attention_length", "decode_rate", "slots", "interleave", "lanes")


def names(text):
    return [name for name in text.split(",") if name]


def named_command(text):
    name, is_given, line = text.partition("=")
    if not is_given or not name or not line.strip():
        raise argparse.ArgumentTypeError("must be NAME='command with {listen} and {backends}'")
    return name, line


def parse(words=None):
    parser = argparse.ArgumentParser(prog="bench/live.sh", description="Sends a trace as real HTTP traffic through one router "
                                     "after the other, before fresh simulated engines each, and compares them.")
    add = parser.add_argument
    add("--trace", default=os.path.join(ROOT, "tests/simulation/oracle/chat.jsonl.xz"), help="JSON lines, plain, gzip or xz")
    add("--routers", type=names, default=names(DEFAULT_ROUTERS), help="comma-separated (%s)" % DEFAULT_ROUTERS)
    add("--router-cmd", type=named_command, action="append", default=[], metavar="NAME='...'",
        help="one more router: its command with {listen} {port} {backends} {backend_urls} {each:--backend http://127.0.0.1:%%d}")
    add("--minutes", type=float, default=3, help="real minutes of load for each router (3)")
    add("--speed-up", type=float, default=5, help="trace, engines and routing time run this many times faster (5)")
    add("--json", action="store_true", help="one JSON object per router on standard output instead of the table")
    add("--html", metavar="FILE", help="write a self-contained page with charts")
    add("--keep", metavar="FOLDER", help="keep logs, access log and samples here")
    load = parser.add_argument_group("load")
    load.add_argument("--load", type=float, help="open loop: the share of the fleet's prefill capacity that one perfect cache "
                      "would leave (0.85 for a trace without sessions)")
    load.add_argument("--speed", type=float, help="the trace is this many times faster than recorded (1 for one with sessions)")
    load.add_argument("--closed-loop", action=argparse.BooleanOptionalAction, default=None,
                      help="next turn after the previous answer and its think time (default: when the trace has sessions)")
    load.add_argument("--sessions", type=int, help="only this many sessions")
    load.add_argument("--seed", type=int, default=1, help="picks the sessions (1)")
    engines = parser.add_argument_group("engines")
    engines.add_argument("--engines", type=int, default=8, help="how many (8)")
    for option in ENGINE_OPTIONS:
        engines.add_argument("--" + option.replace("_", "-"), type=float if option in ("overhead", "decode_rate") else int,
                             help="as in engine-sim and prefix-router replay")
    add("--bin", default=os.path.join(ROOT, "build/release/bin"), help=argparse.SUPPRESS)
    add("--tools", default=os.path.join(ROOT, "build/live"), help=argparse.SUPPRESS)
    add("--list-routers", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args(words)
    arguments.router_cmd = dict(arguments.router_cmd)
    arguments.routers += [name for name in arguments.router_cmd if name not in arguments.routers]
    if arguments.load and arguments.speed:
        parser.error("--load and --speed exclude each other")
    if arguments.minutes <= 0 or arguments.speed_up <= 0 or arguments.engines < 1:
        parser.error("--minutes, --speed-up and --engines must be positive")
    if not os.path.exists(arguments.trace):
        parser.error("no such file: " + arguments.trace)
    return arguments


def engine_words(arguments):
    """The options that engine-sim and the replay have in common; the same defaults in both."""
    defaults = {"kv_tokens": 500000, "prefill_rate": 8000, "overhead": 0.03, "decode_rate": 40, "slots": 64}
    words = []
    for option in ENGINE_OPTIONS:
        given = getattr(arguments, option)
        value = defaults.get(option) if given is None else given
        if value is not None:
            words += ["--" + option.replace("_", "-"), "%.12g" % value]
    return words
