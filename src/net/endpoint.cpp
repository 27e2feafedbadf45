#include "prefix_router/net/endpoint.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>

namespace prefix_router::net {

Endpoint::Endpoint(const sockaddr* address, socklen_t size) : size_(size) {
    if (size_ > sizeof storage_) {
        size_ = sizeof storage_;
    }
    std::memcpy(&storage_, address, size_);
}

std::optional<Endpoint> Endpoint::from_numeric(const std::string& host, std::uint16_t port) {
    addrinfo hints{};
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const std::string service = std::to_string(port);
    if (::getaddrinfo(host.c_str(), service.c_str(), &hints, &found) != 0) {
        return std::nullopt;
    }
    const Endpoint endpoint(found->ai_addr, found->ai_addrlen);
    ::freeaddrinfo(found);
    return endpoint;
}

Result<Endpoint> Endpoint::from_unix_path(std::string_view path) {
    sockaddr_un address{};
    if (path.size() >= sizeof address.sun_path) {
        return Error(ErrorKind::InvalidConfiguration,
                     "the Unix socket path is longer than " +
                         std::to_string(sizeof address.sun_path - 1) + " bytes");
    }
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, path.size());
    const auto size = offsetof(sockaddr_un, sun_path) + path.size() + 1;
    return Endpoint(reinterpret_cast<const sockaddr*>(&address), static_cast<socklen_t>(size));
}

std::uint16_t Endpoint::port() const {
    if (family() == AF_INET) {
        return ntohs(reinterpret_cast<const sockaddr_in&>(storage_).sin_port);
    }
    if (family() == AF_INET6) {
        return ntohs(reinterpret_cast<const sockaddr_in6&>(storage_).sin6_port);
    }
    return 0;
}

std::string Endpoint::host() const {
    char text[INET6_ADDRSTRLEN] = "";
    if (family() == AF_INET) {
        ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(storage_).sin_addr, text,
                    sizeof text);
    } else if (family() == AF_INET6) {
        const auto& address = reinterpret_cast<const sockaddr_in6&>(storage_).sin6_addr;
        if (IN6_IS_ADDR_V4MAPPED(&address)) {
            ::inet_ntop(AF_INET, &address.s6_addr[12], text, sizeof text);
        } else {
            ::inet_ntop(AF_INET6, &address, text, sizeof text);
        }
    } else {
        return "unix";
    }
    return text;
}

bool operator==(const Endpoint& a, const Endpoint& b) {
    return a.size_ == b.size_ && std::memcmp(&a.storage_, &b.storage_, a.size_) == 0;
}

}  // namespace prefix_router::net
