#!/bin/bash
# live.sh [--trace FILE] [--routers adaptive,nginx,smg] [--json] [--html FILE] [...]    (--help lists everything)
# Sends a trace as real HTTP traffic through one router after the other, each before freshly started simulated
# engines, and compares: times to first token, cached tokens, the router's CPU and memory; and the virtual replay of
# the same slice. Builds what it needs; fetches nginx (from the distribution, when it is not installed) and smg (from
# PyPI) into build/live when they are asked for.
set -euo pipefail
. "$(dirname "$0")/../scripts/common.sh"

tools=$root/build/live
smg_version=1.13.0

fetch_nginx() {
    command -v nginx >/dev/null || [[ -x $tools/nginx/usr/sbin/nginx ]] && return
    say "fetching nginx"
    mkdir -p "$tools/nginx"
    # Unpacked, not installed: the package would start a server on port 80.
    (cd "$tools/nginx" && apt-get download -q nginx >"$tools/nginx.log" 2>&1 && dpkg-deb -x nginx_*.deb .) ||
        fail "cannot fetch nginx (see $tools/nginx.log); install it, or leave it out of --routers"
}

fetch_smg() {
    [[ -x $tools/smg/bin/smg ]] && return
    say "installing smg $smg_version into $tools/smg"
    mkdir -p "$tools"
    { python3 -m venv "$tools/smg" && "$tools/smg/bin/pip" install -q "smg==$smg_version"; } >"$tools/smg.log" 2>&1 ||
        fail "cannot install smg (see $tools/smg.log); leave it out of --routers"
}

prepare() {
    "$root/scripts/build.sh" release prefix-router engine-sim chat-load
    # What to fetch: the runner names the routers that it was asked for.
    local routers
    routers=$(python3 -B "$root/bench/live" --list-routers "$@")
    [[ " $routers " != *" nginx "* ]] || fetch_nginx
    [[ " $routers " != *" smg "* ]] || fetch_smg
}

if [[ " $* " == *" --help "* || " $* " == *" -h "* ]]; then
    exec python3 -B "$root/bench/live" --help
fi
prepare "$@" >&2
exec python3 -B "$root/bench/live" --bin "$root/build/release/bin" --tools "$tools" "$@"
