#!/bin/bash
# tsan.sh [CTEST_ARGUMENT...]   builds with ThreadSanitizer and runs the tests under it: all, or what `-R NAME` selects
# A race ends its program with exit code 66 and so its test. Not part of test.sh: building and running take some
# forty minutes on two cores. tests/README.md says more.
set -euo pipefail
exec </dev/null
. "$(dirname "$0")/common.sh"
cd "$root"

scripts/build.sh tsan
# GCC 12's runtime stops where the kernel places a program with more random bits than it knows.
run=()
if setarch -R true 2>/dev/null; then
    run=(setarch -R)
fi
export TSAN_OPTIONS="suppressions=$root/tests/tsan.supp second_deadlock_stack=1 ${TSAN_OPTIONS:-}"
say "testing tsan"
"${run[@]}" ctest --preset tsan "$@"
