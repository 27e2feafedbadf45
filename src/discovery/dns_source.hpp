#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "discovery/announcer.hpp"
#include "discovery/dns_client.hpp"
#include "discovery/dns_places.hpp"
#include "discovery/pause.hpp"
#include "discovery/source.hpp"
#include "discovery/unique_ids.hpp"

namespace prefix_router::discovery {

/// The addresses of a name, or the targets of its SRV records; asked for again when the answer's
/// time to live is over.
class DnsSource final : public Source {
  public:
    DnsSource(const config::DnsSource& source, const config::Discovery& config,
              metrics::Registry& registry, const Publish& publish);

    void run() override;

  private:
    struct Found {
        std::vector<DnsPlace> places;
        std::chrono::seconds ttl{std::chrono::hours{24}};
    };
    /// A name whose addresses are backends on one port.
    struct Wanted {
        std::string name;
        std::uint16_t port;
        double weight;
    };

    Result<Found> look_up();
    Result<Found> look_up_services(DnsClient& client);
    Result<void> look_up_addresses(DnsClient& client, DnsQuestion::Type type,
                                   std::vector<Wanted>& wanted, Found& found);
    Result<void> look_up_families(DnsClient& client, std::vector<Wanted> wanted, Found& found);
    std::chrono::milliseconds until_next(const Found& found) const;

    config::DnsSource source_;
    Announcer announcer_;
    Pause pause_;
    UniqueIds ids_;
};

}  // namespace prefix_router::discovery
