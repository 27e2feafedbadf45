#pragma once

#include <optional>
#include <string>
#include <vector>

#include "prefix_router/config/config.hpp"

#include "discovery/dns_answer.hpp"
#include "discovery/stop_signal.hpp"

struct ares_channeldata;

namespace prefix_router::discovery {

struct DnsQuestion {
    enum class Type : unsigned char { Ipv4, Ipv6, Services };
    enum class Search : unsigned char {
        No,   ///< the name is whole
        Yes,  ///< in the system's search domains, too
    };
    std::string name;
    Type type = Type::Ipv4;
    Search search = Search::No;
};

/// Asks name servers, over c-ares. One round of questions: the system's configuration is read when
/// it is made. One thread.
class DnsClient {
  public:
    /// `nameserver` nullopt: those of /etc/resolv.conf. `stop` outlives it.
    static Result<DnsClient> make(const std::optional<config::ListenAddress>& nameserver,
                                  const StopSignal& stop);
    ~DnsClient();
    DnsClient(DnsClient&& other) noexcept;
    DnsClient& operator=(DnsClient&&) = delete;

    /// Asks all at once; one result for each question, in order. A name that does not exist, or has
    /// nothing of the type, is an empty answer. Errors: Io, BadResponse; Draining when stopped.
    std::vector<Result<DnsAnswer>> ask(const std::vector<DnsQuestion>& questions);

  private:
    DnsClient(ares_channeldata* channel, const StopSignal& stop)
        : channel_(channel), stop_(&stop) {}

    bool work();

    ares_channeldata* channel_;
    const StopSignal* stop_;
};

}  // namespace prefix_router::discovery
