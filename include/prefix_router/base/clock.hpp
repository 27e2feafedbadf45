#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>

namespace prefix_router {

using Duration = std::chrono::nanoseconds;

/// Monotonic time since an arbitrary start. Only a Clock makes one; the replay makes its own in
/// virtual time.
struct MonotonicTag {
    using duration = Duration;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<MonotonicTag, Duration>;
    static constexpr bool is_steady = true;
};
using TimePoint = MonotonicTag::time_point;

/// Seconds as the routing formulas use them.
using Seconds = double;

inline Seconds to_seconds(Duration duration) {
    return std::chrono::duration<double>(duration).count();
}
/// Clamped to a hundred years either way, so that the sum with any TimePoint fits; NaN gives 0.
inline Duration from_seconds(Seconds seconds) {
    constexpr Seconds kHundredYears = 100 * 365.25 * 86'400;
    if (std::isnan(seconds)) {
        return Duration{0};
    }
    return std::chrono::duration_cast<Duration>(
        std::chrono::duration<double>(std::clamp(seconds, -kHundredYears, kHundredYears)));
}

/// The outside world's time, injected. Implementations are thread-safe.
class Clock {
  public:
    virtual ~Clock() = default;
    virtual TimePoint now() const = 0;
};

/// The machine's steady clock, running `speed` times faster than real time (1 except in
/// benchmarks).
class SteadyClock final : public Clock {
  public:
    explicit SteadyClock(double speed = 1.0);
    TimePoint now() const override;

  private:
    double speed_;
    std::chrono::steady_clock::time_point start_;
};

}  // namespace prefix_router
