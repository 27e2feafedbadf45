#!/bin/bash
# live.sh [--trace FILE] [--routers adaptive,nginx,smg] [--json] [--html FILE] [...]    (--help lists everything)
# Sends a trace as real HTTP traffic through one router after the other, each before freshly started simulated
# engines, and compares: times to first token, cached tokens, the router's CPU and memory; and the virtual replay of
# the same slice. Builds what it needs; fetches nginx (from the distribution, when it is not installed) and smg (from
# PyPI) into build/live when they are asked for.
set -euo pipefail
. "$(dirname "$0")/../scripts/common.sh"

tools=$root/build/live
. "$root/bench/shared/peers.sh"

prepare() {
    "$root/scripts/build.sh" release prefix-router engine-sim chat-load
    # What to fetch: the runner names the routers that it was asked for.
    local routers
    routers=$(python3 -B "$root/bench/live" --list-routers "$@")
    [[ " $routers " != *" nginx "* ]] || fetch_debian nginx
    [[ " $routers " != *" smg "* ]] || fetch_smg
}

if [[ " $* " == *" --help "* || " $* " == *" -h "* ]]; then
    exec python3 -B "$root/bench/live" --help
fi
prepare "$@" >&2
exec python3 -B "$root/bench/live" --bin "$root/build/release/bin" --tools "$tools" "$@"
