#!/bin/bash
# llamacpp.sh ROUTER_BINARY CACHE_DIR : the SDK tests against two real llama.cpp servers on this machine.
# Installs the server and the SDKs into CACHE_DIR on first use (about 20 s, 400 MB); needs python3 with venv.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
router=$1 cache=$2
mkdir -p "$cache"

install() {  # KIND: once, and again when its requirements change
    local stamp="$cache/$1.stamp"
    if ! cmp -s "$here/requirements-$1.txt" "$stamp"; then
        echo "installing $1 ..."
        rm -rf "${cache:?}/$1"
        "$here/install.sh" "$cache/$1" "$1"
        cp "$here/requirements-$1.txt" "$stamp"
    fi
}
install model
install llamacpp
install clients
[ -f "$cache/M/tiny.gguf" ] || "$cache/model/bin/python" "$here/make_model.py" "$cache/M" --gguf "$cache/M/tiny.gguf"

read -r -a ports < <(python3 -c '
import socket
s = [socket.socket() for _ in range(2)]
[x.bind(("127.0.0.1", 0)) for x in s]
print(*[x.getsockname()[1] for x in s])')
pids=()
stop() { [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null || true; }
trap stop EXIT
while read -r _ pid; do
    pids+=("$pid")
done < <("$here/run_llamacpp.sh" "$cache/llamacpp" "$cache/M/tiny.gguf" "$cache/logs" "${ports[@]}")
[ ${#pids[@]} -eq 2 ] || { echo "the llama.cpp servers did not start, see $cache/logs" >&2; exit 1; }
"$cache/clients/bin/python" "$here/sdk_test.py" "$router" "http://127.0.0.1:${ports[0]}" "http://127.0.0.1:${ports[1]}"
