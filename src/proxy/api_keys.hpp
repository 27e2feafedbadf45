#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/base/sha256.hpp"
#include "prefix_router/config/config.hpp"
#include "prefix_router/proxy/metrics.hpp"

namespace prefix_router::proxy {

/// Requests per second in the long run, some at once after a pause: the generic cell rate
/// algorithm, one number. Thread-safe.
class RateLimit {
  public:
    /// Without a rate everything goes.
    RateLimit(std::optional<double> per_second, std::uint32_t burst);

    /// Zero: this one goes. Else how long until one would.
    Duration take(TimePoint now);

  private:
    std::int64_t step_ = 0;   // nanoseconds between two requests; 0: no limit
    std::int64_t slack_ = 0;  // how far ahead of its time a request may be
    std::atomic<std::int64_t> next_{0};
};

/// A client that may use the router.
struct Client {
    Client(const config::ApiKey& key, Metrics& metrics);

    /// Requests that have no body name no model and may pass.
    bool may_use(std::string_view model) const;

    const config::ApiKey spec;
    const Sha256 hash;
    const std::uint64_t tenant;  ///< never 0
    RateLimit rate;
    const std::shared_ptr<KeyMetrics> metrics;
};

/// The configured keys by their hashes. Immutable but for the rates; thread-safe.
class ApiKeys {
  public:
    /// Clients that are in `before` in the very same words are taken over, with what their rate
    /// has counted.
    ApiKeys(const config::Config& config, Metrics& metrics, const ApiKeys* before = nullptr);

    bool are_asked_for() const { return !by_prefix_.empty(); }
    /// Null when nobody has this key. The key itself is compared to nothing: its hash is looked up
    /// by its first half and compared in constant time.
    std::shared_ptr<Client> find(std::string_view presented) const;
    std::shared_ptr<Client> find_by_name(std::string_view name) const;

  private:
    std::unordered_map<std::uint64_t, std::shared_ptr<Client>> by_prefix_;
};

}  // namespace prefix_router::proxy
