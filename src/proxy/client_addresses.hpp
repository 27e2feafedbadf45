#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "prefix_router/net/endpoint.hpp"

namespace prefix_router::proxy {

/// Open connections by client address (limits.connections_per_address). Whoever has an IPv6
/// address has its whole /64: that counts as one. Costs nothing while it is off. Thread-safe.
class ClientAddresses {
  public:
    explicit ClientAddresses(std::optional<std::uint32_t> limit) : limit_(limit) {}

    /// False when this address has its share; else leave() follows.
    bool enter(const net::Endpoint& peer);
    void leave(const net::Endpoint& peer);

  private:
    using Network = std::array<std::uint8_t, 8>;
    static std::optional<Network> network_of(const net::Endpoint& peer);

    const std::optional<std::uint32_t> limit_;
    std::mutex mutex_;
    std::map<Network, std::uint32_t> open_;
};

}  // namespace prefix_router::proxy
