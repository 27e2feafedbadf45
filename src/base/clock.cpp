#include "prefix_router/base/clock.hpp"

namespace prefix_router {

SteadyClock::SteadyClock(double speed) : speed_(speed), start_(std::chrono::steady_clock::now()) {}

TimePoint SteadyClock::now() const {
    const auto real = std::chrono::steady_clock::now();
    if (speed_ == 1.0) {
        return TimePoint(std::chrono::duration_cast<Duration>(real.time_since_epoch()));
    }
    const auto scaled = std::chrono::duration<double, std::nano>(real - start_) * speed_;
    return TimePoint(std::chrono::duration_cast<Duration>(start_.time_since_epoch()) +
                     std::chrono::duration_cast<Duration>(scaled));
}

}  // namespace prefix_router
