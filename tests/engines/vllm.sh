#!/bin/bash
# vllm.sh ROUTER_BINARY CACHE_DIR [ROUTERS] : against two real vLLM servers on the CPU, by hand or nightly: the SDK
# tests, then tenants' conversations under each of ROUTERS (adaptive,least_outstanding_requests; nginx and smg when
# bench/live.sh has fetched them).
# Installs vLLM into CACHE_DIR on first use (30 s, 5.2 GB); starting takes 70-100 s and 1.7 GB of memory each.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/common.sh"
router=$1 cache=$2 routers=${3:-adaptive,least_outstanding_requests}
mkdir -p "$cache"
make_model "$cache"
install_once vllm "$cache"
install_once clients "$cache"

# run_vllm.sh also uses each port + 1000 and + 2000.
# 512 blocks of 32 tokens: less than half of the tenants' prompts, so that both servers together do not hold them all.
# A prompt is at most 4,096 tokens.
export BLOCKS=${BLOCKS:-512} MAXLEN=${MAXLEN:-4096}
read -r -a ports <<<"${VLLM_PORTS:-8111 8112}"
trap stop_engines EXIT
while read -r _ pid _; do
    pids+=("$pid")
done < <("$here/run_vllm.sh" "$cache/vllm" "$cache/M" "$cache/logs" "${ports[@]}")
[ ${#pids[@]} -eq 2 ] || { echo "the vLLM servers did not start, see $cache/logs" >&2; exit 1; }
"$cache/clients/bin/python" "$here/sdk_test.py" "$router" "http://127.0.0.1:${ports[0]}" "http://127.0.0.1:${ports[1]}"
python3 -B "$here/conversations.py" "$router" "http://127.0.0.1:${ports[0]}" "http://127.0.0.1:${ports[1]}" \
    --routers "$routers" --tenants 12 --users 6 --requests 400 --check
