#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "prefix_router/config/config.hpp"

#include "discovery/dns_answer.hpp"

namespace prefix_router::discovery {

/// One backend as DNS names it.
struct DnsPlace {
    std::string name;  ///< that was looked up, for the certificate
    std::string address;
    std::uint16_t port = 0;
    double weight = 1;  ///< of the SRV record, over the largest: 0 to 1
};

/// The records of the lowest priority value: the others stand in only where none of these can be
/// reached (RFC 2782), and a router has no such order among its backends. Without targets "." that
/// say that there is no service. Sorted by target and port.
std::vector<SrvRecord> preferred(std::vector<SrvRecord> records);

/// The weight of each record over the largest one, 1 where all are zero.
std::vector<double> relative_weights(const std::vector<SrvRecord>& records);

/// Sorted by URL, each URL once, with ids that follow from it: two may be the same.
std::vector<config::Backend> make_backends(const config::DnsSource& source,
                                           const std::vector<DnsPlace>& places);

}  // namespace prefix_router::discovery
