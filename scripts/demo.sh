#!/bin/bash
# demo.sh [--json] [--serve] [--seconds N] [--strategies "A B"]
# Installs what is missing, builds, and sends the same multi-tenant chat workload through the router under one
# strategy after the other, to four simulated engines that start empty each time. Prints a table.
#   --json            one JSON object per strategy on standard output instead of the table
#   --serve           afterwards leaves router (adaptive, port 8080) and engines running; prints a curl line
#   --seconds N       seconds of load per strategy (25)
#   --strategies ...  which to run, in quotes; "none" with --serve starts it at once
set -euo pipefail
. "$(dirname "$0")/common.sh"

# 24 tenants with system prompts of 6,000 tokens: 144,000 tokens in all. An engine has room for a third of them
# and for the conversations on top; an even spread makes every engine evict what it is about to need.
tenants=24 system_tokens=6000 kv_tokens=52000
# A mid-sized model on one GPU: a cold system prompt takes 0.4 s, a warm one 0.03 s.
engine_options=(--kv-tokens "$kv_tokens" --prefill-rate 16000 --overhead 0.02 --decode-rate 60 --slots 32)
load_options=(--tenants "$tenants" --system-tokens "$system_tokens" --turns 4 --user-tokens 60
    --answer-tokens 40 --concurrency 40 --think 1.2 --seed 1)

json=0 serve=0 seconds=25 strategies="random least_outstanding_requests prefix_aware adaptive"
while (($#)); do
    case $1 in
        --json) json=1 ;;
        --serve) serve=1 ;;
        --seconds) seconds=${2:?"--seconds needs a number"} && shift ;;
        --strategies) strategies=${2:?"--strategies needs names"} && shift ;;
        -h | --help) sed -n '2,8s/^# \{0,1\}//p' "$0" && exit 0 ;;
        *) fail "unknown option '$1'; try --help" ;;
    esac
    shift
done
[[ $strategies == none ]] && strategies=
# What is not a result goes to standard error, so that --json can be piped.
exec 3>&1 1>&2

bin=$root/build/release/bin
scratch=$(mktemp -d)
pids=()

stop_all() {
    local pid
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
    pids=()
}
trap 'stop_all; rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# start LOG COMMAND...: in the background, in a process group of its own so that Ctrl-C reaches this script alone.
start() {
    local log=$1
    shift
    setsid "$@" >"$log" 2>&1 </dev/null &
    pids+=($!)
}

# wait_for SECONDS WHAT COMMAND...: until the command succeeds.
wait_for() {
    local tries=$(($1 * 20)) what=$2
    shift 2
    until "$@" >/dev/null 2>&1; do
        kill -0 "${pids[-1]}" 2>/dev/null && ((tries-- > 0)) || {
            cat "$scratch"/*.log >&2
            fail "$what did not start; its messages are above"
        }
        sleep 0.05
    done
}

is_taken() {
    (: <>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

free_port() {
    local port
    while :; do
        port=$((20000 + RANDOM % 12000))
        is_taken "$port" || break
    done
    echo "$port"
}

engine_urls() {
    grep -o 'http://[0-9.:]*' "$scratch/engines.log"
}

has_four_engines() {
    (($(engine_urls | wc -l) == 4))
}

# start_router STRATEGY HOST:PORT [OPTION...]: with four fresh engines behind it.
start_router() {
    local strategy=$1 address=$2 backends=() url
    shift 2
    : >"$scratch/engines.log"
    start "$scratch/engines.log" "$bin/engine-sim" --port 0,0,0,0 "${engine_options[@]}"
    wait_for 10 "engine-sim" has_four_engines
    for url in $(engine_urls); do backends+=(--backend "$url"); done
    start "$scratch/router.log" "$bin/prefix-router" --listen "$address" --strategy "$strategy" \
        --access-log off "$@" "${backends[@]}"
    wait_for 10 "prefix-router" curl -sf -m 2 "http://127.0.0.1:${address##*:}/health"
}

# number NAME JSON
number() {
    sed -n "s/.*\"$1\":\([0-9.e+-]*\).*/\1/p" <<<"$2"
}

print_header() {
    ((json)) || printf '\n%-28s %9s %9s %9s %9s %8s %14s %7s\n' strategy "hit ratio" "TTFT p50" p90 p99 \
        req/s "not computed" errors >&3
}

print_legend() {
    ((json)) || cat >&3 <<'TEXT'

not computed: prompt tokens that the engines had in their KV caches and did not compute again; hit ratio: their share
of all prompt tokens; TTFT: from sending a request to the first token of its answer.
TEXT
}

print_row() {
    if ((json)); then
        echo "$1" >&3
        return
    fi
    printf '%-28s %9.3f %6.0f ms %6.0f ms %6.0f ms %8.1f %14s %7s\n' "$(sed -n 's/.*"strategy":"\([^"]*\)".*/\1/p' \
        <<<"$1")" "$(number token_hit_ratio "$1")" "$(number ttft_p50_ms "$1")" "$(number ttft_p90_ms "$1")" \
        "$(number ttft_p99_ms "$1")" "$(number requests_per_s "$1")" "$(number tokens_not_computed "$1")" \
        "$(number errors "$1")" >&3
    if [[ $1 == *'"client_was_bottleneck":true'* ]]; then
        echo "  (the machine was too busy: the load client itself was late, the times above include that)" >&3
    fi
}

run_strategy() {
    local port report progress=()
    port=$(free_port)
    start_router "$1" "127.0.0.1:$port" --admin off
    [[ -t 2 ]] && progress=(--progress)
    # In the background and waited for: so that a signal is acted on at once.
    "$bin/chat-load" --url "http://127.0.0.1:$port" --strategy "$1" --json --duration "$seconds" \
        "${load_options[@]}" "${progress[@]}" >"$scratch/report.json" &
    pids+=($!)
    wait "${pids[-1]}" || true # failed answers are in the report
    report=$(cat "$scratch/report.json")
    [[ -n $report ]] || fail "chat-load ended without a report"
    stop_all
    print_row "$report"
}

leave_running() {
    start_router adaptive 0.0.0.0:8080
    local kept="${pids[*]}"
    pids=()
    disown -a
    cat >&3 <<TEXT

The router listens on port 8080 (adaptive, four engines behind it; admin: http://127.0.0.1:9191/metrics). Try:

  curl -N http://127.0.0.1:8080/v1/chat/completions -H 'Content-Type: application/json' \\
    -d '{"model": "sim", "stream": true, "messages": [{"role": "user", "content": "Hello"}]}'

Stop it: kill $kept
TEXT
}

runs=$(wc -w <<<"$strategies")
if ((runs)); then
    say "$runs strategies, $seconds s of load each: about $(((runs * (seconds + 2) + 59) / 60)) min once it is built," \
        "which the first time takes some minutes more"
fi
if ((serve)) && is_taken 8080; then fail "--serve needs port 8080, which is in use"; fi
"$root/scripts/install_dependencies.sh" build
"$root/scripts/build.sh" release prefix-router engine-sim chat-load

if [[ -n $strategies ]]; then
    say "four engines with $kv_tokens KV tokens each; $tenants tenants with $system_tokens-token system prompts"
    print_header
    for strategy in $strategies; do
        say "$strategy: $seconds s of load"
        run_strategy "$strategy"
    done
    print_legend
fi
if ((serve)); then leave_running; fi
