#include "proxy/client_addresses.hpp"

#include <netinet/in.h>

#include <algorithm>
#include <cstring>

namespace prefix_router::proxy {

/// The first half of an IPv6 address, or an IPv4 one behind zeros; nullopt for a Unix socket.
std::optional<ClientAddresses::Network> ClientAddresses::network_of(const net::Endpoint& peer) {
    constexpr std::size_t kIpv4Size = 4;
    Network network{};
    if (peer.family() == AF_INET) {
        sockaddr_in address;
        std::memcpy(&address, peer.address(), sizeof address);
        std::memcpy(network.data() + kIpv4Size, &address.sin_addr, kIpv4Size);
        return network;
    }
    if (peer.family() != AF_INET6) {
        return std::nullopt;
    }
    sockaddr_in6 address;
    std::memcpy(&address, peer.address(), sizeof address);
    const auto* const bytes = address.sin6_addr.s6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&address.sin6_addr)) {
        std::copy_n(bytes + 12, kIpv4Size, network.begin() + kIpv4Size);
    } else {
        std::copy_n(bytes, network.size(), network.begin());
    }
    return network;
}

bool ClientAddresses::enter(const net::Endpoint& peer) {
    const auto network = limit_ ? network_of(peer) : std::nullopt;
    if (!network) {
        return true;
    }
    const std::lock_guard lock(mutex_);
    std::uint32_t& open = open_[*network];
    if (open >= *limit_) {
        return false;
    }
    ++open;
    return true;
}

void ClientAddresses::leave(const net::Endpoint& peer) {
    const auto network = limit_ ? network_of(peer) : std::nullopt;
    if (!network) {
        return;
    }
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(*network);
    if (found != open_.end() && --found->second == 0) {
        open_.erase(found);
    }
}

}  // namespace prefix_router::proxy
