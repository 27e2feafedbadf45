#include "prefix_router/pool/health.hpp"

#include <algorithm>
#include <utility>

namespace prefix_router::pool {
namespace {

constexpr Duration kLongestOpenTime = std::chrono::seconds(60);
constexpr Duration kHealthThatForgets = std::chrono::seconds(60);
constexpr Duration kHardlyWorse = std::chrono::seconds(8);
constexpr std::uint32_t kMostDoublings = 16;

bool has_never_answered(Health::State state) {
    return state == Health::State::Unknown || state == Health::State::Unhealthy;
}

}  // namespace

Health::Health(const config::Health& policy) : policy_(policy) {}

Duration Health::open_time() const {
    const std::uint32_t doublings = std::min(ejections_ > 0 ? ejections_ - 1 : 0, kMostDoublings);
    const Duration once = policy_.ejection;
    const Duration longest = std::max(once, kLongestOpenTime);
    return std::min(longest, once * (std::int64_t{1} << doublings));
}

Health::State Health::state(TimePoint now) const {
    if (state_ == State::Ejected && !is_probe_bad_ && now - opened_at_ >= open_time()) {
        return State::HalfOpen;
    }
    return state_;
}

void Health::eject(TimePoint now) {
    if (state_ != State::Ejected) {
        outage_began_ = now;
        if (now - healthy_since_ >= kHealthThatForgets) {
            ejections_ = 0;
        }
    }
    state_ = State::Ejected;
    ++ejections_;
    opened_at_ = now;
    probe_successes_ = 0;
    request_failures_ = 0;
    trial_ = kNoTrial;
}

void Health::become_healthy(TimePoint now) {
    if (state_ == State::Ejected) {
        ++returns_;
        last_outage_ = now - outage_began_;
    }
    state_ = State::Healthy;
    healthy_since_ = now;
    probe_failures_ = 0;
    request_failures_ = 0;
    trial_ = kNoTrial;
}

void Health::probe_succeeded(TimePoint now) {
    is_probe_bad_ = false;
    probe_failures_ = 0;
    ++probe_successes_;
    const State current = state(now);
    if (has_never_answered(current) ||
        (current == State::HalfOpen && probe_successes_ >= policy_.successes)) {
        become_healthy(now);
    }
    if (state_ == State::Healthy) {
        has_succeeded_ = true;
        last_success_ = now;
    }
}

void Health::probe_failed(TimePoint now) {
    is_probe_bad_ = true;
    probe_successes_ = 0;
    ++probe_failures_;
    if (state_ == State::Unknown) {
        state_ = State::Unhealthy;
    } else if (state_ == State::Healthy && probe_failures_ >= policy_.failures) {
        eject(now);
    }
}

void Health::request_failed(TimePoint now) {
    const State current = state(now);
    if (current == State::Ejected) {
        return;  // sent before the ejection: says nothing new
    }
    ++request_failures_;
    if (current == State::HalfOpen || request_failures_ >= policy_.passive_failures) {
        eject(now);
    }
}

void Health::request_succeeded(TimePoint now) {
    const State current = state(now);
    request_failures_ = 0;
    last_success_ = now;
    has_succeeded_ = true;
    if (has_never_answered(current) || current == State::HalfOpen) {
        become_healthy(now);
    }
}

bool Health::wants_trial(TimePoint now) const {
    return state(now) == State::HalfOpen && trial_ == kNoTrial;
}

Health::Trial Health::begin_trial(TimePoint now) {
    trial_ = state(now) == State::HalfOpen ? ++trials_ : kNoTrial;
    return trial_;
}

void Health::abandon_trial(Trial trial) {
    if (trial_ == trial) {
        trial_ = kNoTrial;
    }
}

bool Health::is_less_bad_than(const Health& other) const {
    return std::pair(has_succeeded_, last_success_) >
           std::pair(other.has_succeeded_, other.last_success_);
}

bool Health::is_hardly_worse_than(const Health& least_bad) const {
    return has_succeeded_ == least_bad.has_succeeded_ &&
           least_bad.last_success_ - last_success_ <= kHardlyWorse;
}

std::string_view to_string(Health::State state) {
    switch (state) {
        case Health::State::Unknown:
            return "unknown";
        case Health::State::Unhealthy:
            return "unhealthy";
        case Health::State::Healthy:
            return "healthy";
        case Health::State::Ejected:
            return "ejected";
        case Health::State::HalfOpen:
            return "half_open";
    }
    return "unknown";
}

}  // namespace prefix_router::pool
