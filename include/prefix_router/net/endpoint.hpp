#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "prefix_router/base/error.hpp"

namespace prefix_router::net {

/// A socket address: IPv4, IPv6 or a Unix path. A value.
class Endpoint {
  public:
    Endpoint() = default;
    Endpoint(const sockaddr* address, socklen_t size);

    /// A numeric address; nullopt for a name.
    static std::optional<Endpoint> from_numeric(const std::string& host, std::uint16_t port);
    /// Fails when the path does not fit.
    static Result<Endpoint> from_unix_path(std::string_view path);

    const sockaddr* address() const { return reinterpret_cast<const sockaddr*>(&storage_); }
    socklen_t size() const { return size_; }
    int family() const { return storage_.ss_family; }
    std::uint16_t port() const;
    /// The address alone: "10.0.0.1", "::1" (an IPv4 client on a dual-stack socket reads as IPv4),
    /// "unix" for a Unix socket.
    std::string host() const;

    friend bool operator==(const Endpoint& a, const Endpoint& b);

  private:
    sockaddr_storage storage_{};
    socklen_t size_ = 0;
};

}  // namespace prefix_router::net
