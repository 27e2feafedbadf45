#include "prefix_router/net/listener.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace prefix_router::net {
namespace {

constexpr int kBacklog = 4096;
/// Connections taken per wake-up, so that a flood of new ones does not starve those being served.
constexpr int kAcceptBurst = 64;

void enable(int descriptor, int level, int option) {
    const int on = 1;
    ::setsockopt(descriptor, level, option, &on, sizeof on);
}

Error system_error(const std::string& what) {
    return Error(ErrorKind::Io, what + ": " + std::strerror(errno));
}

Result<int> bound_socket(const Endpoint& endpoint, bool shares_port, const std::string& name) {
    const int descriptor =
        ::socket(endpoint.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0) {
        return system_error("cannot make a socket for " + name);
    }
    enable(descriptor, SOL_SOCKET, SO_REUSEADDR);
    if (shares_port) {
        enable(descriptor, SOL_SOCKET, SO_REUSEPORT);
    }
    if (::bind(descriptor, endpoint.address(), endpoint.size()) != 0) {
        auto error = errno == EADDRINUSE
                         ? Error(ErrorKind::Io,
                                 "cannot listen on " + name + ": another process uses the port")
                         : system_error("cannot listen on " + name);
        ::close(descriptor);
        return error;
    }
    return descriptor;
}

Result<Endpoint> look_up(const config::ListenAddress& address) {
    addrinfo hints{};
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const std::string service = std::to_string(address.port);
    const int error = ::getaddrinfo(address.host.c_str(), service.c_str(), &hints, &found);
    if (error != 0) {
        return Error(ErrorKind::Io,
                     "cannot listen on '" + address.host + "': " + ::gai_strerror(error));
    }
    const Endpoint endpoint(found->ai_addr, found->ai_addrlen);
    ::freeaddrinfo(found);
    return endpoint;
}

std::string name_of(const Endpoint& endpoint) {
    return endpoint.host() + " port " + std::to_string(endpoint.port());
}

}  // namespace

Result<Endpoint> claim_address(const config::ListenAddress& address) {
    const auto wanted = look_up(address);
    if (!wanted) {
        return wanted.error();
    }
    const auto descriptor = bound_socket(*wanted, false, name_of(*wanted));
    if (!descriptor) {
        return descriptor.error();
    }
    // Two sockets with SO_REUSEADDR can be bound side by side while neither listens.
    if (::listen(*descriptor, 1) != 0) {
        const auto error = system_error("cannot listen on " + name_of(*wanted));
        ::close(*descriptor);
        return error;
    }
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    const int named = ::getsockname(*descriptor, reinterpret_cast<sockaddr*>(&bound), &size);
    ::close(*descriptor);
    if (named != 0) {
        return system_error("cannot read the bound address of " + name_of(*wanted));
    }
    return Endpoint(reinterpret_cast<const sockaddr*>(&bound), size);
}

Result<std::unique_ptr<Listener>> Listener::open(Worker& worker, const Endpoint& endpoint,
                                                 ConnectionLimit& limit, Accepted accepted) {
    const auto descriptor = bound_socket(endpoint, true, name_of(endpoint));
    if (!descriptor) {
        return descriptor.error();
    }
    enable(*descriptor, IPPROTO_TCP, TCP_NODELAY);
    enable(*descriptor, SOL_SOCKET, SO_KEEPALIVE);
    if (::listen(*descriptor, kBacklog) != 0) {
        const auto error = system_error("cannot listen on " + name_of(endpoint));
        ::close(*descriptor);
        return error;
    }
    return std::unique_ptr<Listener>(new Listener(worker, *descriptor, limit, std::move(accepted)));
}

Listener::Listener(Worker& worker, int descriptor, ConnectionLimit& limit, Accepted accepted)
    : worker_(worker), socket_(worker, descriptor), limit_(limit), accepted_(std::move(accepted)) {
    socket_.listen(this);
    socket_.watch_read();
    worker_.ticks().add(*this);
}

void Listener::on_readable() {
    for (int taken = 0; taken < kAcceptBurst; ++taken) {
        if (!accept_one()) {
            break;
        }
    }
    if (!is_paused_) {
        socket_.watch_read();
    }
}

void Listener::on_tick(Tick /*now*/) {
    if (is_paused_) {
        is_paused_ = false;
        on_readable();
    }
}

bool Listener::accept_one() {
    if (limit_.open.fetch_add(1, std::memory_order_relaxed) >= limit_.limit) {
        limit_.open.fetch_sub(1, std::memory_order_relaxed);
        is_paused_ = true;
        return false;
    }
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    const int descriptor = ::accept4(socket_.descriptor(), reinterpret_cast<sockaddr*>(&peer),
                                     &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor >= 0) {
        accepted_(Stream(worker_, descriptor),
                  Endpoint(reinterpret_cast<const sockaddr*>(&peer), size));
        return true;
    }
    limit_.open.fetch_sub(1, std::memory_order_relaxed);
    const bool is_exhausted =
        errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
    is_paused_ = is_exhausted;
    // A connection that was reset before it was accepted is no reason to stop.
    return errno == ECONNABORTED || errno == EINTR || errno == EPROTO;
}

}  // namespace prefix_router::net
