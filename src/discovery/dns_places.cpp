#include "discovery/dns_places.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "discovery/new_backend.hpp"

namespace prefix_router::discovery {
namespace {

constexpr double kLeastWeight = 0.001;
constexpr double kMostWeight = 1000;

}  // namespace

std::vector<SrvRecord> preferred(std::vector<SrvRecord> records) {
    std::erase_if(records, [](const SrvRecord& record) {
        return record.target.empty() || record.target == "." || record.port == 0;
    });
    std::sort(records.begin(), records.end(), [](const SrvRecord& a, const SrvRecord& b) {
        return std::tie(a.priority, a.target, a.port) < std::tie(b.priority, b.target, b.port);
    });
    std::erase_if(records, [first = records.empty() ? 0 : records.front().priority](
                               const SrvRecord& record) { return record.priority != first; });
    return records;
}

std::vector<double> relative_weights(const std::vector<SrvRecord>& records) {
    std::uint16_t largest = 0;
    for (const SrvRecord& record : records) {
        largest = std::max(largest, record.weight);
    }
    std::vector<double> weights;
    weights.reserve(records.size());
    for (const SrvRecord& record : records) {
        weights.push_back(largest == 0 ? 1.0 : static_cast<double>(record.weight) / largest);
    }
    return weights;
}

std::vector<config::Backend> make_backends(const config::DnsSource& source,
                                           const std::vector<DnsPlace>& places) {
    std::vector<config::Backend> backends;
    for (const DnsPlace& place : places) {
        auto backend = new_backend(source.backend, place.address, place.port);
        if (backend.has_error()) {
            continue;  // an address that came out of inet_ntop can always stand in a URL
        }
        backend->weight = std::clamp(backend->weight * place.weight, kLeastWeight, kMostWeight);
        if (backend->url.is_tls && !backend->tls.server_name) {
            backend->tls.server_name = place.name;
        }
        backends.push_back(std::move(*backend));
    }
    std::sort(backends.begin(), backends.end(),
              [](const auto& a, const auto& b) { return a.url.text < b.url.text; });
    backends.erase(
        std::unique(backends.begin(), backends.end(),
                    [](const auto& a, const auto& b) { return a.url.text == b.url.text; }),
        backends.end());
    return backends;
}

}  // namespace prefix_router::discovery
