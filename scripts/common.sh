# Sourced by the other scripts: where the project is, how much the machine can do at once.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export LC_ALL=C.UTF-8

# say TEXT: a step that a person can follow, with the seconds since the script began.
say() {
    printf '== %s (%d s)\n' "$*" "$SECONDS"
}

fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# Memory in MiB that this machine, or the container that this is, may use.
memory_mib() {
    local kib limit
    kib=$(awk '/^MemTotal:/ {print $2}' /proc/meminfo)
    for file in /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes; do
        limit=$(cat "$file" 2>/dev/null) || continue
        if [[ $limit =~ ^[0-9]{1,15}$ ]] && ((limit / 1024 < kib)); then
            kib=$((limit / 1024))
        fi
    done
    echo $((kib / 1024))
}

# Compilers at once: one per core, but 1.2 GiB for each, since an Asio file takes 800 MB.
# PREFIX_ROUTER_JOBS overrides it.
jobs_for_this_machine() {
    local cores by_memory
    cores=$(nproc)
    by_memory=$(($(memory_mib) * 10 / 12288))
    ((by_memory < 1)) && by_memory=1
    echo "${PREFIX_ROUTER_JOBS:-$((cores < by_memory ? cores : by_memory))}"
}
