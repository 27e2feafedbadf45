#!/bin/bash
# package.sh [FOLDER]   builds the daemon and a Debian package of it for this distribution, into FOLDER (build/package)
set -euo pipefail
. "$(dirname "$0")/common.sh"
folder=$(realpath -m "${1:-$root/build/package}")
cd "$root"
scripts/build.sh release prefix-router
say "packing"
mkdir -p "$folder"
(cd build/release && cpack -B "$folder" >"$folder/cpack.log" 2>&1) || { cat "$folder/cpack.log" >&2; fail "cpack failed"; }
rm -rf "$folder/_CPack_Packages"
say "packed: $(ls "$folder"/*.deb)"
