#include "prefix_router/net/connect.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "prefix_router/net/descriptor.hpp"

namespace prefix_router::net {

Dial dial(Worker& worker, const Endpoint& endpoint) {
    Dial attempt;
    const int descriptor =
        ::socket(endpoint.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0) {
        attempt.error = errno;
        return attempt;
    }
    if (endpoint.family() != AF_UNIX) {
        const int on = 1;
        ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        ::setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    }
    Descriptor owned(descriptor);
    if (::connect(descriptor, endpoint.address(), endpoint.size()) == 0) {
        attempt.is_connected = true;
    } else if (errno != EINPROGRESS && errno != EINTR) {
        attempt.error = errno;
        return attempt;
    }
    attempt.stream = Stream(worker, owned.release());
    return attempt;
}

std::chrono::milliseconds connect_share(std::chrono::milliseconds timeout, std::size_t addresses) {
    const auto parts =
        static_cast<std::chrono::milliseconds::rep>(std::max<std::size_t>(1, addresses));
    return std::max(std::chrono::milliseconds(1), timeout / parts);
}

ErrorKind connect_error_kind(int error) {
    switch (error) {
        case ECONNREFUSED:
        case ENOENT:  // a Unix socket whose server is not there
            return ErrorKind::ConnectRefused;
        case ETIMEDOUT:
            return ErrorKind::ConnectTimeout;
        case EMFILE:
        case ENFILE:
        case ENOBUFS:
        case ENOMEM:
        case EADDRNOTAVAIL:  // no ephemeral port left
            return ErrorKind::OutOfDescriptors;
        default:
            return ErrorKind::ConnectFailed;
    }
}

}  // namespace prefix_router::net
