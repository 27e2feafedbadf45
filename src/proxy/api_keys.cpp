#include "proxy/api_keys.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "prefix_router/base/hash.hpp"

namespace prefix_router::proxy {
namespace {

std::uint64_t prefix_of(const Sha256& hash) {
    std::uint64_t prefix = 0;
    std::memcpy(&prefix, hash.data(), sizeof prefix);
    return prefix;
}

}  // namespace

RateLimit::RateLimit(std::optional<double> per_second, std::uint32_t burst) {
    if (per_second) {
        step_ = std::max<std::int64_t>(1, std::llround(1e9 / *per_second));
        slack_ = step_ * (std::int64_t{burst} - 1);
    }
}

Duration RateLimit::take(TimePoint now) {
    if (step_ == 0) {
        return Duration::zero();
    }
    const std::int64_t at = now.time_since_epoch().count();
    std::int64_t next = next_.load(std::memory_order_relaxed);
    while (true) {
        const std::int64_t due = std::max(next, at);
        if (due - at > slack_) {
            return Duration(due - at - slack_);
        }
        if (next_.compare_exchange_weak(next, due + step_, std::memory_order_relaxed)) {
            return Duration::zero();
        }
    }
}

Client::Client(const config::ApiKey& key, Metrics& registry)
    : spec(key),
      hash(parse_sha256(key.sha256).value_or(Sha256())),
      tenant(hash_bytes(key.name, 0) | 1),
      rate(key.requests_per_second, key.burst),
      metrics(registry.api_key(key.name)) {}

bool Client::may_use(std::string_view model) const {
    return spec.models.empty() || std::ranges::find(spec.models, model) != spec.models.end();
}

ApiKeys::ApiKeys(const config::Config& config, Metrics& metrics, const ApiKeys* before) {
    for (const config::ApiKey& key : config.api_keys) {
        const auto prefix = prefix_of(parse_sha256(key.sha256).value_or(Sha256()));
        auto& client = by_prefix_[prefix];
        if (before != nullptr) {
            const auto known = before->by_prefix_.find(prefix);
            const bool is_same = known != before->by_prefix_.end() && known->second->spec == key;
            client = is_same ? known->second : nullptr;
        }
        if (!client) {
            client = std::make_shared<Client>(key, metrics);
        }
    }
}

std::shared_ptr<Client> ApiKeys::find(std::string_view presented) const {
    const Sha256 hash = sha256(presented);
    const auto found = by_prefix_.find(prefix_of(hash));
    const bool is_known = found != by_prefix_.end() && are_equal_secrets(found->second->hash, hash);
    return is_known ? found->second : nullptr;
}

std::shared_ptr<Client> ApiKeys::find_by_name(std::string_view name) const {
    const auto found = std::ranges::find_if(
        by_prefix_, [&](const auto& entry) { return entry.second->spec.name == name; });
    return found != by_prefix_.end() ? found->second : nullptr;
}

}  // namespace prefix_router::proxy
