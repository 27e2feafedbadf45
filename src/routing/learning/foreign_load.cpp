#include "routing/learning/foreign_load.hpp"

#include <algorithm>

namespace prefix_router::routing {
namespace {

constexpr Seconds kShortestInterval = 1;
constexpr Seconds kLongestInterval = 20;

double most(const std::array<double, 3>& values) {
    return *std::max_element(values.begin(), values.end());
}

void shift(std::array<double, 3>& values, double present) {
    values = {present, values[0], values[1]};
}

}  // namespace

void ForeignLoad::sent(double in_flight, double awaiting) {
    most_in_flight_[0] = std::max(most_in_flight_[0], in_flight);
    most_awaiting_[0] = std::max(most_awaiting_[0], awaiting);
}

void ForeignLoad::scraped(const pool::ScrapedLoad& load, double in_flight, double awaiting,
                          Seconds now) {
    interval_ = std::clamp(now - scraped_at_, kShortestInterval, kLongestInterval);
    scraped_at_ = now;
    const double waits = load.waiting.value_or(0);
    total_ = std::max(0.0, load.running.value_or(0) + waits - most(most_in_flight_));
    waiting_ = std::clamp(waits - most(most_awaiting_), 0.0, total_);
    shift(most_in_flight_, in_flight);
    shift(most_awaiting_, awaiting);
}

}  // namespace prefix_router::routing
