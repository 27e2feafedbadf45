#!/bin/bash
# llamacpp.sh ROUTER_BINARY CACHE_DIR [ROUTERS] : against two real llama.cpp servers on this machine: the SDK tests,
# then tenants' conversations under each of ROUTERS (adaptive,least_outstanding_requests; nginx and smg when
# bench/live.sh has fetched them). Installs the server and the SDKs into CACHE_DIR on first use (about 20 s, 400 MB);
# needs python3 with venv.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/common.sh"
router=$1 cache=$2 routers=${3:-adaptive,least_outstanding_requests}
mkdir -p "$cache"
make_model "$cache"
install_once llamacpp "$cache"
install_once clients "$cache"
trap stop_engines EXIT

# start_two: two servers; their URLs are in `urls`.
start_two() {
    local ports pid
    read -r -a ports < <(free_ports 2)
    while read -r _ pid; do
        pids+=("$pid")
    done < <("$here/run_llamacpp.sh" "$cache/llamacpp" "$cache/M/tiny.gguf" "$cache/logs" "${ports[@]}")
    [ ${#pids[@]} -eq 2 ] || { echo "the llama.cpp servers did not start, see $cache/logs" >&2; exit 1; }
    urls=("http://127.0.0.1:${ports[0]}" "http://127.0.0.1:${ports[1]}")
}

start_two
"$cache/clients/bin/python" "$here/sdk_test.py" "$router" "${urls[@]}"
stop_engines
pids=()

# Three slots of 3,200 tokens each: a prompt fits just so, and one server holds three of the eight tenants' prompts.
export SLOTS=3 CTX=9600
start_two
for more in "" --shared-tenants; do
    echo "conversations $more"
    # shellcheck disable=SC2086
    python3 -B "$here/conversations.py" "$router" "${urls[@]}" --routers "$routers" --check $more
done
