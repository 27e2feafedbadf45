#!/bin/bash
# soak.sh [--minutes N | --quick] [--seed N] [--router BINARY] [--growth PERCENT] [--pause SECONDS]
# 30 minutes by default; --quick is 2. Mixed traffic (chat streamed and not, uploads, large bodies, HEAD, pipelined requests,
# clients that leave and clients that are killed) through the daemon before backends that refuse, reset, stall, truncate,
# send garbage and bytes nobody asked for, and die. Every answer carries its request's tag and is compared to the byte. The
# last line says in figures what was wrong, lost or leaked, and how memory grew; the exit code is 0 when nothing was.
# --pause: how long each client rests between two requests, on average, on a machine that has other work. Builds what it
# needs.
set -euo pipefail
. "$(dirname "$0")/../scripts/common.sh"

minutes=30
seed=1
growth=5
pause=0
usage="usage: soak.sh [--minutes N | --quick] [--seed N] [--router BINARY] [--growth PERCENT] [--pause SECONDS]"
router=
while (($# > 0)); do
    case $1 in
    --quick) minutes=2 growth=25 ;; # most of it is warming up
    --minutes | --seed | --router | --growth | --pause)
        (($# > 1)) || fail "$1 needs a value; $usage"
        declare "${1#--}=$2"
        shift
        ;;
    *) fail "'$1' is unknown; $usage" ;;
    esac
    shift
done
[[ $minutes =~ ^[0-9]+(\.[0-9]+)?$ ]] || fail "'$minutes' is no number of minutes"
[[ $growth =~ ^[0-9]+$ ]] || fail "'$growth' is no whole number of percent"
[[ $pause =~ ^[0-9]+(\.[0-9]+)?$ ]] || fail "'$pause' is no number of seconds"
[[ $seed =~ ^[0-9]+$ ]] || fail "'$seed' is no seed: give a whole number"

[[ -z $router ]] || router=$(realpath -- "$router")
cd "$root"
if [[ -z $router ]]; then
    scripts/build.sh release prefix-router
    router=build/release/bin/prefix-router
fi
PYTHONPATH=$root exec python3 -B -m bench.soak "$router" "$minutes" "$seed" "$growth" "$pause"
