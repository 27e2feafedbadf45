#include "prefix_router/net/listener.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "prefix_router/base/contain.hpp"

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

std::string name_of(const Endpoint& endpoint) {
    return endpoint.host() + " port " + std::to_string(endpoint.port());
}

enum class Port : unsigned char { Shared, Exclusive };

Result<Descriptor> listening_socket(const Endpoint& endpoint, Port port, int backlog) {
    Descriptor socket(::socket(endpoint.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket.is_open()) {
        return system_error("cannot make a socket for " + name_of(endpoint));
    }
    enable(socket.number(), SOL_SOCKET, SO_REUSEADDR);
    if (port == Port::Shared) {
        enable(socket.number(), SOL_SOCKET, SO_REUSEPORT);
    }
    if (::bind(socket.number(), endpoint.address(), endpoint.size()) != 0) {
        return errno == EADDRINUSE ? Error(ErrorKind::Io, "cannot listen on " + name_of(endpoint) +
                                                              ": another process uses the port")
                                   : system_error("cannot listen on " + name_of(endpoint));
    }
    // Two sockets with SO_REUSEADDR can be bound side by side while neither listens.
    if (::listen(socket.number(), backlog) != 0) {
        return system_error("cannot listen on " + name_of(endpoint));
    }
    return socket;
}

/// `address` with the port chosen for 0.
Result<Endpoint> claim(const config::ListenAddress& address) {
    const auto wanted = listen_endpoint(address);
    if (!wanted) {
        return wanted.error();
    }
    const auto socket = listening_socket(*wanted, Port::Exclusive, 1);
    if (!socket) {
        return socket.error();
    }
    return bound_endpoint(*socket);
}

}  // namespace

Result<Endpoint> listen_endpoint(const config::ListenAddress& address) {
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
    const addrinfo* chosen = found;
    while (chosen != nullptr && chosen->ai_family != AF_INET) {
        chosen = chosen->ai_next;
    }
    chosen = chosen != nullptr ? chosen : found;
    const Endpoint endpoint(chosen->ai_addr, chosen->ai_addrlen);
    ::freeaddrinfo(found);
    return endpoint;
}

Result<Endpoint> bound_endpoint(const Descriptor& socket) {
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    if (::getsockname(socket.number(), reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
        return system_error("cannot read the address of a listening socket");
    }
    return Endpoint(reinterpret_cast<const sockaddr*>(&bound), size);
}

Result<std::vector<Descriptor>> open_listening_sockets(const config::ListenAddress& address,
                                                       std::size_t count) {
    const auto endpoint = claim(address);
    if (!endpoint) {
        return endpoint.error();
    }
    std::vector<Descriptor> sockets;
    while (sockets.size() < count) {
        auto socket = listening_socket(*endpoint, Port::Shared, kBacklog);
        if (!socket) {
            return socket.error();
        }
        sockets.push_back(std::move(*socket));
    }
    return sockets;
}

Listener::Listener(Worker& worker, Descriptor socket, ConnectionLimit& limit, Accepted accepted)
    : worker_(worker),
      socket_(worker, socket.release()),
      limit_(limit),
      accepted_(std::move(accepted)) {
    // Connections inherit these from the socket they were queued on.
    enable(socket_.descriptor(), IPPROTO_TCP, TCP_NODELAY);
    enable(socket_.descriptor(), SOL_SOCKET, SO_KEEPALIVE);
    socket_.listen(this);
    socket_.watch_read();
    worker_.ticks().add(*this);
}

Listener::~Listener() {
    const Descriptor closing(socket_.release());
}

void Listener::accept_queued() {
    while (accept_one()) {
    }
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
    if (limit_.open.fetch_add(1, std::memory_order_relaxed) >=
        limit_.limit.load(std::memory_order_relaxed)) {
        limit_.open.fetch_sub(1, std::memory_order_relaxed);
        is_paused_ = true;
        return false;
    }
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    const int descriptor = socket_.accept(peer, size);
    if (descriptor >= 0) {
        const bool is_taken = contain("a new connection", [&] {
            accepted_(Stream(worker_, descriptor),
                      Endpoint(reinterpret_cast<const sockaddr*>(&peer), size));
        });
        if (!is_taken) {
            limit_.open.fetch_sub(1, std::memory_order_relaxed);
            is_paused_ = true;
        }
        return is_taken;
    }
    limit_.open.fetch_sub(1, std::memory_order_relaxed);
    const bool is_exhausted =
        errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
    if (is_exhausted) {
        is_paused_ = true;
        limit_.shortages.fetch_add(1, std::memory_order_relaxed);
    }
    // A connection that was reset before it was accepted is no reason to stop.
    return errno == ECONNABORTED || errno == EINTR || errno == EPROTO;
}

}  // namespace prefix_router::net
