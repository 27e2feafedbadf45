#!/bin/bash
# dataplane.sh [--quick] [--json] [--threads N] [--workloads W1,W2] [--smg] [--prototype PROGRAM] [--growth] [...]   (--help lists all)
# What relaying costs: the router beside nginx and haproxy with equal jobs, before the same fast backend. CPU time per
# request and per event, memory per connection and stream, added latency, throughput, in interleaved rounds. Builds what
# it needs; fetches nginx and haproxy from Debian when they are not installed, and smg from PyPI when it is asked for.
set -euo pipefail
. "$(dirname "$0")/../scripts/common.sh"

tools=$root/build/live
. "$root/bench/shared/peers.sh"

if [[ " $* " == *" --help "* || " $* " == *" -h "* ]]; then
    exec python3 -B "$root/bench/dataplane" --help
fi
{
    "$root/scripts/build.sh" release prefix-router dataplane-backend dataplane-load
    fetch_debian nginx
    fetch_debian haproxy
    [[ " $* " != *" --smg "* ]] || fetch_smg
} >&2
exec python3 -B "$root/bench/dataplane" --bin "$root/build/release/bin" --tools "$tools" "$@"
