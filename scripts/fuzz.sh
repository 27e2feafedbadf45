#!/bin/bash
# fuzz.sh [SECONDS [TARGET...]]   runs the fuzz targets one after the other, SECONDS each (default 180)
# Needs clang-19 and libclang-rt-19-dev. Inputs that reach new code are collected in build/fuzz/corpus; what
# ends a target is left in build/fuzz/found: add it to tests/fuzz/corpus/TARGET with the mend.
set -euo pipefail
. "$(dirname "$0")/common.sh"

seconds=${1:-180}
shift || true
[[ $seconds =~ ^[1-9][0-9]*$ ]] || fail "'$seconds' is no number of seconds; usage: fuzz.sh [SECONDS [TARGET...]]"
command -v clang++-19 >/dev/null || fail "clang++-19 is missing; install clang-19 and libclang-rt-19-dev"

cd "$root"
if (($# > 0)); then targets=("$@"); else mapfile -t targets < <(ls tests/fuzz/corpus); fi
for target in "${targets[@]}"; do
    [[ -d tests/fuzz/corpus/$target ]] ||
        fail "there is no target '$target'; there are: $(ls tests/fuzz/corpus | tr '\n' ' ')"
done
scripts/build.sh fuzz "${targets[@]/%/_fuzz}"

mkdir -p build/fuzz/found
for target in "${targets[@]}"; do
    say "fuzzing $target for $seconds s"
    mkdir -p "build/fuzz/corpus/$target"
    nice "build/fuzz/bin/${target}_fuzz" -max_total_time="$seconds" -timeout=10 -max_len=4096 \
        -dict=tests/fuzz/words.dict -artifact_prefix="build/fuzz/found/$target-" -print_final_stats=1 \
        "build/fuzz/corpus/$target" "tests/fuzz/corpus/$target" >"build/fuzz/$target.log" 2>&1 || {
        tail -n 40 "build/fuzz/$target.log" >&2
        fail "$target found something; the whole log is in build/fuzz/$target.log"
    }
    grep -E "number_of_executed_units|new_units_added" "build/fuzz/$target.log"
done
say "nothing found"
