# Sourced by the benches, after scripts/common.sh: fetches other proxies into $tools.
smg_version=1.13.0

# fetch_debian PROGRAM: $tools/PROGRAM holds the package and what it needs, unless PROGRAM is installed. Unpacked and not
# installed: the package would start a server on port 80.
fetch_debian() {
    local program=$1
    if [[ -x /usr/sbin/$program || -x $tools/$program/usr/sbin/$program ]]; then
        return
    fi
    say "fetching $program"
    mkdir -p "$tools/$program"
    (
        set -e
        cd "$tools/$program"
        packages=$(apt-get install --simulate --no-install-recommends "$program" | awk '/^Inst/ {print $2}')
        # shellcheck disable=SC2086  # one word per package
        apt-get download -q $packages
        for package in *.deb; do
            dpkg-deb -x "$package" .
        done
    ) >"$tools/$program.log" 2>&1 || fail "cannot fetch $program (see $tools/$program.log); install it"
}

fetch_smg() {
    [[ -x $tools/smg/bin/smg ]] && return
    say "installing smg $smg_version into $tools/smg"
    mkdir -p "$tools"
    { python3 -m venv "$tools/smg" && "$tools/smg/bin/pip" install -q "smg==$smg_version"; } >"$tools/smg.log" 2>&1 ||
        fail "cannot install smg (see $tools/smg.log); leave it out"
}
