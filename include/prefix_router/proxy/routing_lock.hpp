#pragma once

#include <mutex>

#include "prefix_router/base/clock.hpp"

namespace prefix_router::proxy {

/// A mutex that knows how long threads have waited for it. Only a thread that finds it taken reads
/// the clock. A BasicLockable: use it with std::lock_guard.
class RoutingLock {
  public:
    explicit RoutingLock(const Clock& clock) : clock_(clock) {}

    void lock() {
        if (mutex_.try_lock()) {
            return;
        }
        const TimePoint begun = clock_.now();
        mutex_.lock();
        waited_ += to_seconds(clock_.now() - begun);
    }
    void unlock() { mutex_.unlock(); }

    /// All threads' waiting so far, in seconds. For the thread that holds it.
    Seconds waited() const { return waited_; }

  private:
    const Clock& clock_;
    std::mutex mutex_;
    Seconds waited_ = 0;
};

}  // namespace prefix_router::proxy
