"""bench/live.sh runs this: routers beside each other, live, before the same simulated engines."""
import json
import os
import signal
import sys
import tempfile

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../shared"))

import arguments as command_line
import report
import routers
from run import Failure, run_router
from slice import Slice


def say(text):
    print(text, file=sys.stderr, flush=True)


def describe(arguments, part, replayed):
    loop = "closed loop" if part.closed_loop else "open loop"
    requests = next(iter(replayed.values()))["requests"]
    return "%s: %d requests, %s at %.3g times its speed; %d engines (%s); everything %g times faster, times in the trace's seconds" % (
        os.path.basename(arguments.trace), requests, loop, part.speed, arguments.engines,
        " ".join(command_line.engine_words(arguments)), arguments.speed_up)


def run_all(arguments, folder):
    part = Slice(arguments)
    wanted = [routers.REPLAYED_AS[name] for name in arguments.routers if name in routers.REPLAYED_AS]
    replayed = part.replayed(list(dict.fromkeys(wanted or ["least_outstanding_requests"])))
    setting = describe(arguments, part, replayed)
    say(setting)
    if not arguments.json:
        print(report.header(), flush=True)
    results, charts = [], []
    for name in arguments.routers:
        try:
            result, chart = run_router(name, arguments, part, os.path.join(folder, name))
        except Failure as failure:
            say("%s: %s" % (name, failure))
            continue
        virtual = replayed.get(routers.REPLAYED_AS.get(name))
        if virtual:
            result.update(replayed_as=virtual["strategy"], replay_token_hit_ratio=round(virtual["token_hit_ratio"], 4),
                          replay_ttft_mean_s=round(virtual["ttft_mean_s"], 4), replay_ttft_p99_s=round(virtual["ttft_p99_s"], 4))
        results.append(result)
        charts.append(chart)
        print(json.dumps(result) if arguments.json else report.row(result), flush=True)
    if arguments.html and results:
        report.write_page(arguments.html, setting, results, charts)
        say("wrote " + arguments.html)
    return results


def main():
    arguments = command_line.parse()
    if arguments.list_routers:
        print(" ".join(name for name in arguments.routers if name not in arguments.router_cmd))
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that children are ended
    try:
        if arguments.keep:
            results = run_all(arguments, arguments.keep)
        else:
            with tempfile.TemporaryDirectory() as folder:
                results = run_all(arguments, folder)
    except KeyboardInterrupt:
        return 130
    failed = len(results) < len(arguments.routers) or any(result["errors"] for result in results)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
