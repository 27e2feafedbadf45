#!/bin/bash
# Installs what is missing, checks the style, builds and runs every test, then builds and runs them again under
# AddressSanitizer and UndefinedBehaviorSanitizer, whether tests failed before or not. About forty minutes on two cores
# when nothing is cached, a quarter of an hour when ccache knows the objects.
set -euo pipefail
exec </dev/null
. "$(dirname "$0")/common.sh"
cd "$root"

scripts/install_dependencies.sh
say "checking the style"
python3 -B scripts/check_style.py
failed=()
for preset in release asan; do
    scripts/build.sh "$preset"
    say "testing $preset"
    ctest --preset "$preset" --parallel "$(nproc)" 2>&1 | tee "build/$preset.ctest.log" || failed+=("$preset")
done
# What ends the output is a summary of ctest's own, that of a preset that failed if one did.
for preset in "${failed[@]}"; do
    say "tests failed: $preset"
    sed -n '/ tests passed, /,$p' "build/$preset.ctest.log"
done
((${#failed[@]} == 0))
