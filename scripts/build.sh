#!/bin/bash
# build.sh [PRESET [TARGET...]]   builds into build/PRESET, programs in build/PRESET/bin
# PRESET: release (default), dev, asan or tsan. PREFIX_ROUTER_JOBS sets how many compilers run at once.
set -euo pipefail
. "$(dirname "$0")/common.sh"

preset=${1:-release}
shift || true
for tool in cmake ninja c++; do
    command -v "$tool" >/dev/null || fail "$tool is missing; run scripts/install_dependencies.sh"
done

# A clone in another folder finds what this one has compiled.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
jobs=$(jobs_for_this_machine)

cd "$root"
say "configuring $preset"
log=build/$preset.configure.log
mkdir -p build
cmake --preset "$preset" >"$log" 2>&1 || {
    cat "$log" >&2
    fail "cmake could not configure the build; is something missing? scripts/install_dependencies.sh"
}
say "building $preset, $jobs at a time"
NINJA_STATUS="[%f/%t, %es] " cmake --build --preset "$preset" -j "$jobs" ${1:+--target "$@"}
say "built: build/$preset/bin"
