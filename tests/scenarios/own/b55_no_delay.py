#!/usr/bin/env python3
"""B55  No small write waits for an acknowledgement: 200 answers in two writes on one kept connection, then 100 events
5 ms apart. Nagle's algorithm beside delayed acknowledgements would add 40 ms to each."""
import os, sys
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), p) for p in (".", "..")]
from caselib import *

DELAY = 0.03  # a delayed acknowledgement comes after 40 ms


def run(c):
    def h(bk, cx, rq):
        if rq.target.endswith("/events"):
            cx.send(sse_head())
            for _ in range(100):
                time.sleep(0.005)
                cx.send(chunk(b"data: %.6f\n\n" % time.time()))
            cx.send(b"0\r\n\r\n")
        else:
            cx.send(b"HTTP/1.1 200 OK\r\nContent-Length: 300\r\n\r\n")
            cx.send(b"x" * 300)
    c.handler = h
    with Client(c) as client:
        times = []
        for _ in range(200):
            begin = time.time()
            client.request("POST", "/small", b"{}")
            answer = client.read()
            times.append(time.time() - begin)
            if answer.status != 200 or len(answer.body) != 300:
                return False, "bad answer: %r" % answer
        slow = sum(t > DELAY for t in times)
        client.request("POST", "/events", b"{}")
        events = client.read()
    lags = [when - float(data[6:]) for when, data in events.chunks]
    late = sum(lag > DELAY for lag in lags)
    if len(lags) < 90:
        return False, "only %d of 100 events came one by one" % len(lags)
    # A busy machine delays some; an acknowledgement that is waited for delays nearly all.
    if slow > 20 or late > 20:
        return False, "%d of 200 answers and %d of %d events took over 30 ms" % (slow, late, len(lags))
    times.sort()
    return True, "median answer %.2f ms, worst %.1f ms; worst event %.1f ms" % (
        times[100] * 1000, times[-1] * 1000, max(lags) * 1000)


main(run)
