#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>

namespace prefix_router::testing {

/// Where a test listens or connects: loopback of either family, or a Unix path.
struct SocketAddress {
    sockaddr_storage storage{};
    socklen_t size = 0;

    static SocketAddress ipv4(std::uint16_t port);
    static SocketAddress ipv6(std::uint16_t port);
    static SocketAddress unix_path(const std::string& path);
    /// Where `descriptor` is bound.
    static SocketAddress of(int descriptor);

    int family() const { return storage.ss_family; }
    std::uint16_t port() const;
    const sockaddr* raw() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

}  // namespace prefix_router::testing
