#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "prefix_router/base/error.hpp"

namespace prefix_router::discovery {

/// A record of RFC 2782.
struct SrvRecord {
    std::uint16_t priority = 0;
    std::uint16_t weight = 0;
    std::uint16_t port = 0;
    std::string target;

    friend bool operator==(const SrvRecord&, const SrvRecord&) = default;
};

/// What the answer section of a reply holds of the records that matter here. Aliases count with
/// their time to live: the records behind them are found for no longer than they say.
struct DnsAnswer {
    std::vector<std::string> addresses;  ///< IPv4 and IPv6, as text
    std::vector<SrvRecord> services;
    std::chrono::seconds ttl{0};  ///< the least of all

    bool is_empty() const { return addresses.empty() && services.empty(); }
};

/// Pure. Error: BadResponse.
Result<DnsAnswer> parse_dns_answer(std::span<const unsigned char> reply);

}  // namespace prefix_router::discovery
