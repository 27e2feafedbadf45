#!/bin/bash
# tidy.sh [--all | FILE...]   clang-tidy-19 with the checks of .clang-tidy; without arguments on what differs from main
# Needs a configured release build (compile_commands.json), no compiled one. A finding that is meant to stay is marked
# NOLINT(check) with its reason beside it.
set -euo pipefail
. "$(dirname "$0")/common.sh"

command -v clang-tidy-19 >/dev/null || fail "clang-tidy-19 is missing; install it"
cd "$root"
if [[ ${1:-} == --all ]]; then
    mapfile -t files < <(git ls-files 'src/*.cpp')
elif (($# > 0)); then
    files=("$@")
else
    base=$(git merge-base HEAD origin/main 2>/dev/null || git rev-parse HEAD)
    mapfile -t files < <(git diff --name-only --diff-filter=d "$base" -- 'src/*.cpp')
fi
((${#files[@]} > 0)) || { say "no files to check"; exit 0; }
[[ -f build/release/compile_commands.json ]] || cmake --preset release >/dev/null

say "checking ${#files[@]} files"
printf '%s\0' "${files[@]}" |
    xargs -0 -n 1 -P "$(jobs_for_this_machine)" nice clang-tidy-19 --quiet -p build/release 2>/dev/null ||
    fail "clang-tidy has findings: mend them, or mark them NOLINT(check) with a reason"
say "clean"
