#!/bin/bash
# install_dependencies.sh [build]   installs what building and testing needs, with `build` only what building needs, from
# the distribution: Debian 12, Debian 13 or Ubuntu 24.04. As root or with sudo. Does nothing when nothing is missing.
set -euo pipefail
. "$(dirname "$0")/common.sh"

packages=(
    ca-certificates ccache cmake curl dpkg-dev file g++ git ninja-build python3
    libbenchmark-dev libc-ares-dev libcli11-dev libcurl4-openssl-dev libgmock-dev libgtest-dev liblzma-dev
    libspdlog-dev libssl-dev libxxhash-dev libyaml-cpp-dev nlohmann-json3-dev prometheus-cpp-dev zlib1g-dev
)
case "${1:-all}" in
    build) ;;
    all) packages+=(buildah clang-format-19 debootstrap netavark python3-venv systemd valgrind) ;;
    *) fail "install_dependencies.sh takes 'build' or nothing, not '$1'" ;;
esac

distribution() {
    (. /etc/os-release 2>/dev/null && echo "${ID:-unknown} ${VERSION_ID:-}") || echo "unknown"
}

case "$(distribution)" in
    "debian 12") boost=libboost1.81-dev ;; # its libboost-dev is 1.74, too old
    "debian 13" | "ubuntu 24.04") boost=libboost-dev ;;
    *)
        fail "this script knows Debian 12, Debian 13 and Ubuntu 24.04, not '$(distribution)'." \
            "Install these, or what they are called here, and Boost 1.81 or newer, then run" \
            "scripts/build.sh: ${packages[*]}"
        ;;
esac

# For the dashboard's test, which is skipped on Ubuntu: that has Chromium as a snap only.
if [[ ${1:-all} == all && $(distribution) == debian* ]]; then
    packages+=(chromium fonts-dejavu-core)
fi

is_installed() {
    [[ $(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null) == ii* ]]
}

missing=()
for package in "${packages[@]}" "$boost"; do
    is_installed "$package" || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
    echo "dependencies: nothing is missing"
    exit 0
fi

as_root=()
if ((EUID != 0)); then
    command -v sudo >/dev/null ||
        fail "missing: ${missing[*]}. Run this script as root, or install sudo."
    as_root=(sudo)
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT

apt() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -q \
        -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" </dev/null 2>&1 |
        tee "$log" | awk '
            /^Get:/ && ++fetched % 40 == 0 { print "   fetched " fetched " packages"; fflush() }
            /^Setting up / && ++set_up % 40 == 0 { print "   set up " set_up " packages"; fflush() }'
}

say "refreshing the package lists"
apt update >/dev/null || echo "apt-get update failed; trying with the lists that are there" >&2

# Debian 12 cannot have both Boosts' headers.
if [[ $boost == libboost1.81-dev ]] && is_installed libboost1.74-dev; then
    apt install -s --no-install-recommends "${missing[@]}" >/dev/null || true
    echo "libboost1.81-dev replaces: $(awk '/^Remv/ {printf "%s ", $2}' "$log")"
fi

say "installing ${#missing[@]} packages and what they depend on: ${missing[*]}"
if ! apt install --no-install-recommends "${missing[@]}"; then
    tail -n 20 "$log" >&2
    fail "apt-get could not install them; the lines above say why"
fi
say "dependencies are installed"
