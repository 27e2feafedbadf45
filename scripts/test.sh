#!/bin/bash
# Installs what is missing, checks the style, builds and runs every test, then builds and runs them again under
# AddressSanitizer and UndefinedBehaviorSanitizer. About forty minutes on two cores when nothing is cached,
# a quarter of an hour when ccache knows the objects.
set -euo pipefail
exec </dev/null
. "$(dirname "$0")/common.sh"
cd "$root"

scripts/install_dependencies.sh
say "checking the style"
python3 -B scripts/check_style.py
for preset in release asan; do
    scripts/build.sh "$preset"
    say "testing $preset"
    ctest --preset "$preset" --parallel "$(nproc)"
done
