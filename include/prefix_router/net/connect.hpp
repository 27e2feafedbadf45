#pragma once

#include <chrono>
#include <cstddef>
#include <span>

#include "prefix_router/base/error.hpp"
#include "prefix_router/net/endpoint.hpp"
#include "prefix_router/net/parker.hpp"
#include "prefix_router/net/stream.hpp"
#include "prefix_router/net/task.hpp"
#include "prefix_router/net/worker.hpp"

namespace prefix_router::net {

/// A connection attempt under way or ended at once. The caller watches the stream for writing and
/// then asks connect_error().
struct Dial {
    Stream stream;  ///< open when the attempt was started
    int error = 0;  ///< errno when it could not be
    bool is_connected = false;
};

/// Starts a non-blocking connect; sets TCP_NODELAY and keep-alive.
Dial dial(Worker& worker, const Endpoint& endpoint);

/// What each of `addresses` gets of the time to connect: never zero, which would be without a
/// limit.
std::chrono::milliseconds connect_share(std::chrono::milliseconds timeout, std::size_t addresses);

/// What an errno of socket() or connect() means to the caller.
ErrorKind connect_error_kind(int error);

}  // namespace prefix_router::net
