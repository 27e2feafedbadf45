/// A name server's reply: any bytes are an answer or an error; what an answer names makes backends
/// with a URL and an id of their own each.

#include <set>
#include <span>
#include <string>
#include <vector>

#include "discovery/dns_answer.hpp"
#include "discovery/dns_places.hpp"
#include "fuzz/fuzzing.hpp"

namespace prefix_router::discovery {
namespace {

void use_services(const std::vector<SrvRecord>& services) {
    const auto records = preferred(services);
    fuzz::require(records.size() <= services.size(), "no record is added");
    const auto weights = relative_weights(records);
    fuzz::require(weights.size() == records.size(), "each record has a weight");
    for (std::size_t i = 0; i < records.size(); ++i) {
        fuzz::require(records[i].priority == records.front().priority, "of one priority");
        fuzz::require(records[i].port != 0 && !records[i].target.empty(), "of a place");
        fuzz::require(weights[i] >= 0 && weights[i] <= 1, "weights are from 0 to 1");
    }
}

void use_addresses(const std::vector<std::string>& addresses) {
    std::vector<DnsPlace> places;
    for (const std::string& address : addresses) places.push_back({"name", address, 8000, 1});
    const auto backends = make_backends(config::DnsSource{}, places);
    fuzz::require(backends.empty() == addresses.empty(), "an address can stand in a URL");
    std::set<std::string> urls;
    std::set<std::string> ids;
    for (const config::Backend& backend : backends) {
        fuzz::require(urls.insert(backend.url.text).second, "each URL once");
        fuzz::require(ids.insert(backend.id).second, "each id once");
    }
}

}  // namespace
}  // namespace prefix_router::discovery

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace prefix_router::discovery;
    const std::vector<unsigned char> reply(bytes, bytes + size);  // to its very end and no further
    const auto answer = parse_dns_answer(reply);
    if (answer.has_error()) return 0;
    prefix_router::fuzz::require(answer->ttl.count() >= 0, "no time to live is negative");
    use_services(answer->services);
    use_addresses(answer->addresses);
    return 0;
}
