#!/bin/bash
# llamacpp.sh ROUTER_BINARY CACHE_DIR : the SDK tests against two real llama.cpp servers on this machine.
# Installs the server and the SDKs into CACHE_DIR on first use (about 20 s, 400 MB); needs python3 with venv.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/common.sh"
router=$1 cache=$2
mkdir -p "$cache"
make_model "$cache"
install_once llamacpp "$cache"
install_once clients "$cache"

read -r -a ports < <(free_ports 2)
trap stop_engines EXIT
while read -r _ pid; do
    pids+=("$pid")
done < <("$here/run_llamacpp.sh" "$cache/llamacpp" "$cache/M/tiny.gguf" "$cache/logs" "${ports[@]}")
[ ${#pids[@]} -eq 2 ] || { echo "the llama.cpp servers did not start, see $cache/logs" >&2; exit 1; }
"$cache/clients/bin/python" "$here/sdk_test.py" "$router" "http://127.0.0.1:${ports[0]}" "http://127.0.0.1:${ports[1]}"
