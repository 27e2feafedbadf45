#pragma once

#include <algorithm>
#include <cmath>

#include "prefix_router/base/clock.hpp"

namespace prefix_router::routing {

/// An exponential average of a rate: what was added, per second, over about the last minute.
/// Read and changed in O(1) with time as a parameter, never decreasing; what turns out not to have
/// happened can be taken back. Example: 60 added at 0 is a rate of 1 at 0 and of 0.37 at 60.
class RateAverage {
  public:
    static constexpr Seconds kWindow = 60.0;

    void add(double amount, Seconds now) { set(at(now) + amount / kWindow, now); }
    /// What is left of an amount that was added at `then`.
    void take_back(double amount, Seconds then, Seconds now) {
        const double left = amount / kWindow * std::exp((then - now) / kWindow);
        set(std::max(0.0, at(now) - left), now);
    }
    /// Asked several times at one time, as by a decision, it computes the exponential once.
    double at(Seconds now) const {
        if (now != at_) {
            at_ = now;
            value_then_ = value_ * std::exp((since_ - now) / kWindow);
        }
        return value_then_;
    }

  private:
    void set(double value, Seconds now) {
        value_ = value_then_ = value;
        since_ = at_ = now;
    }

    double value_ = 0;
    Seconds since_ = 0;
    mutable Seconds at_ = 0;
    mutable double value_then_ = 0;
};

}  // namespace prefix_router::routing
