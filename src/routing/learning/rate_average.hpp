#pragma once

#include <cmath>

#include "prefix_router/base/clock.hpp"

namespace prefix_router::routing {

/// An exponential average of a rate: what was added, per second, over about the last minute.
class RateAverage {
  public:
    static constexpr Seconds kWindow = 60.0;

    void add(double amount, Seconds now) {
        value_ = at(now) + amount / kWindow;
        since_ = now;
    }
    double at(Seconds now) const { return value_ * std::exp((since_ - now) / kWindow); }

  private:
    double value_ = 0;
    Seconds since_ = 0;
};

}  // namespace prefix_router::routing
