#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include "prefix_router/base/clock.hpp"

namespace prefix_router::routing {

/// How many held requests go to a backend per second, over about the last half minute in which any
/// was held: time without a queue does not say how fast one drains. Not thread-safe.
/// Example: a queue held for four seconds of which eight have gone needs five more for ten.
class DrainRate {
  public:
    static constexpr Seconds kWindow = 30;
    static constexpr std::size_t kTelling = 8;  ///< fewer say nothing

    /// The first is held, or the last has left.
    void begin(Seconds now) { begun_ = now; }
    void end(Seconds now) {
        held_for_ = time(now);
        begun_.reset();
    }
    void went(Seconds now) {
        value_ = value_ * std::exp((since_ - time(now)) / kWindow) + 1 / kWindow;
        since_ = time(now);
        ++count_;
    }
    /// Expected until `count` have gone; nullopt: nothing tells.
    std::optional<Seconds> time_for(std::size_t count, Seconds now) const {
        const Seconds seen = time(now);
        const double weight = 1 - std::exp(-seen / kWindow);  // of what was there to be seen
        if (count_ < kTelling || weight <= 0) {
            return std::nullopt;
        }
        const double rate = value_ * std::exp((since_ - seen) / kWindow) / weight;
        return static_cast<double>(count) / std::max(rate, 1e-9);
    }

  private:
    Seconds time(Seconds now) const { return held_for_ + (begun_ ? now - *begun_ : 0); }

    std::optional<Seconds> begun_;
    Seconds held_for_ = 0;
    double value_ = 0;
    Seconds since_ = 0;
    std::size_t count_ = 0;
};

}  // namespace prefix_router::routing
