#pragma once

#include <mutex>

#include "prefix_router/base/clock.hpp"

namespace prefix_router::proxy {

/// A mutex that knows how long threads have waited for it. Only a thread that finds it taken reads
/// the clock. It is held for a microsecond or two, so a thread tries again for about as long before
/// it sleeps: to be woken takes many times that. A BasicLockable: use it with std::lock_guard.
class RoutingLock {
  public:
    explicit RoutingLock(const Clock& clock) : clock_(clock) {}

    void lock() {
        if (mutex_.try_lock()) {
            return;
        }
        const TimePoint begun = clock_.now();
        if (!try_again()) {
            mutex_.lock();
        }
        waited_ += to_seconds(clock_.now() - begun);
    }
    void unlock() { mutex_.unlock(); }

    /// All threads' waiting so far, in seconds. For the thread that holds it.
    Seconds waited() const { return waited_; }

  private:
    static constexpr int kTries = 32;
    static constexpr int kPauses = 4;  // between two tries; 10 to 40 ns each

    bool try_again() {
        for (int i = 0; i < kTries; ++i) {
            for (int pause = 0; pause < kPauses; ++pause) {
                pause_processor();
            }
            if (mutex_.try_lock()) {
                return true;
            }
        }
        return false;
    }
    /// Tells the processor that this is a loop that waits.
    static void pause_processor() {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#endif
    }

    const Clock& clock_;
    std::mutex mutex_;
    Seconds waited_ = 0;
};

}  // namespace prefix_router::proxy
