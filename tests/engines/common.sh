# Sourced by llamacpp.sh and vllm.sh: installing once into a cache folder, and free ports.

# install_once KIND CACHE_DIR: again only when the requirements of KIND change.
install_once() {
    local stamp="$2/$1.stamp"
    if ! cmp -s "$here/requirements-$1.txt" "$stamp"; then
        echo "installing $1 ..."
        rm -rf "${2:?}/$1"
        "$here/install.sh" "$2/$1" "$1"
        cp "$here/requirements-$1.txt" "$stamp"
    fi
}

# make_model CACHE_DIR: the tiny random-weight model, for both engines.
make_model() {
    install_once model "$1"
    [ -f "$1/M/tiny.gguf" ] ||
        "$1/model/bin/python" "$here/make_model.py" "$1/M" --gguf "$1/M/tiny.gguf"
}

# free_ports N: N free loopback ports on one line.
free_ports() {
    python3 -c '
import socket, sys
s = [socket.socket() for _ in range(int(sys.argv[1]))]
[x.bind(("127.0.0.1", 0)) for x in s]
print(*[x.getsockname()[1] for x in s])' "$1"
}

pids=()
stop_engines() {
    [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null || true
    wait 2>/dev/null || true
}
