#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include <nlohmann/json.hpp>

#include "prefix_router/proxy/metrics.hpp"

namespace prefix_router::admin {

/// What the counters of the whole fleet had come to at one moment.
struct FleetSample {
    double at = 0;             ///< seconds since 1970
    double requests = 0;       ///< answered, or left by their clients
    double failed = 0;         ///< answered with 5xx
    double prompt_tokens = 0;  ///< of answers that report cached tokens
    double cached_tokens = 0;  ///< reported
    double in_flight = 0;
    double held = 0;
    std::vector<std::uint64_t> first_tokens;  ///< times, by bucket of the histogram, not cumulated
};

/// Samples of the last quarter of an hour, so that a page that opens now has something to show.
class FleetHistory {
  public:
    static constexpr std::size_t kMost = 450;

    void add(FleetSample sample);
    /// Column by column, oldest sample first.
    nlohmann::json columns() const;

  private:
    std::deque<FleetSample> samples_;
};

FleetSample take_sample(proxy::Metrics& metrics, std::size_t held);
nlohmann::json to_json(const FleetSample& sample);
/// Upper bounds of FleetSample::first_tokens but for the last bucket, which has none.
std::vector<double> first_token_bounds(const proxy::Metrics& metrics);

}  // namespace prefix_router::admin
