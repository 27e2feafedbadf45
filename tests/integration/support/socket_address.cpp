#include "integration/support/socket_address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <cstring>

namespace prefix_router::testing {
namespace {

template <class Address>
SocketAddress copy_of(const Address& address) {
    SocketAddress made;
    std::memcpy(&made.storage, &address, sizeof(address));
    made.size = sizeof(address);
    return made;
}

}  // namespace

SocketAddress SocketAddress::ipv4(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return copy_of(address);
}

SocketAddress SocketAddress::ipv6(std::uint16_t port) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(port);
    address.sin6_addr = IN6ADDR_LOOPBACK_INIT;
    return copy_of(address);
}

SocketAddress SocketAddress::unix_path(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    return copy_of(address);
}

SocketAddress SocketAddress::of(int descriptor) {
    SocketAddress made;
    made.size = sizeof(made.storage);
    ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&made.storage), &made.size);
    return made;
}

std::uint16_t SocketAddress::port() const {
    if (family() == AF_INET6) {
        return ntohs(reinterpret_cast<const sockaddr_in6&>(storage).sin6_port);
    }
    return family() == AF_INET ? ntohs(reinterpret_cast<const sockaddr_in&>(storage).sin_port) : 0;
}

}  // namespace prefix_router::testing
