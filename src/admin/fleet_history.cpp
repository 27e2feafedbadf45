#include "admin/fleet_history.hpp"

#include <chrono>
#include <cmath>
#include <utility>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>

namespace prefix_router::admin {
namespace {

using nlohmann::json;

double seconds_since_1970() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<double>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count()) /
           1e3;
}

std::vector<std::uint64_t> bucket_counts(const prometheus::Histogram& histogram) {
    std::vector<std::uint64_t> counts;
    std::uint64_t before = 0;
    for (const auto& bucket : histogram.Collect().histogram.bucket) {
        counts.push_back(bucket.cumulative_count - before);
        before = bucket.cumulative_count;
    }
    return counts;
}

}  // namespace

FleetSample take_sample(proxy::Metrics& metrics, std::size_t held) {
    constexpr unsigned kServerError = 5;
    FleetSample sample;
    sample.at = seconds_since_1970();
    for (unsigned hundreds = 0; hundreds < proxy::Metrics::kStatusClasses; ++hundreds) {
        const double answers = metrics.answers(hundreds * 100).Value();
        sample.requests += answers;
        sample.failed += hundreds == kServerError ? answers : 0;
    }
    sample.prompt_tokens = metrics.reported_prompt_tokens.Value();
    sample.cached_tokens = metrics.reported_cached_tokens.Value();
    sample.in_flight = metrics.in_flight.Value();
    sample.held = static_cast<double>(held);
    sample.first_tokens = bucket_counts(metrics.first_token_seconds);
    return sample;
}

json to_json(const FleetSample& sample) {
    return {
        {"at", sample.at},
        {"requests", sample.requests},
        {"failed", sample.failed},
        {"prompt_tokens", sample.prompt_tokens},
        {"cached_tokens", sample.cached_tokens},
        {"in_flight", sample.in_flight},
        {"held", sample.held},
        {"first_tokens", sample.first_tokens},
    };
}

std::vector<double> first_token_bounds(const proxy::Metrics& metrics) {
    std::vector<double> bounds;
    for (const auto& bucket : metrics.first_token_seconds.Collect().histogram.bucket) {
        if (std::isfinite(bucket.upper_bound)) {
            bounds.push_back(bucket.upper_bound);
        }
    }
    return bounds;
}

void FleetHistory::add(FleetSample sample) {
    samples_.push_back(std::move(sample));
    if (samples_.size() > kMost) {
        samples_.pop_front();
    }
}

json FleetHistory::columns() const {
    json columns = json::object();
    for (const FleetSample& sample : samples_) {
        const json row = to_json(sample);
        for (const auto& [name, value] : row.items()) {
            columns[name].push_back(value);
        }
    }
    return columns;
}

}  // namespace prefix_router::admin
