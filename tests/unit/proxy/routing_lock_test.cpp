#include "prefix_router/proxy/routing_lock.hpp"

#include <atomic>
#include <future>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

namespace prefix_router::proxy {
namespace {

/// Stands still until told, and tells when it was first asked.
class WatchedClock final : public Clock {
  public:
    TimePoint now() const override {
        const TimePoint now{Duration{nanoseconds_.load()}};  // before the test advances it
        if (!was_asked_.exchange(true)) {
            asked_.set_value();
        }
        return now;
    }
    void advance(Duration by) { nanoseconds_ += by.count(); }
    void wait_until_asked() { asked_.get_future().wait(); }
    bool was_asked() const { return was_asked_; }

  private:
    std::atomic<Duration::rep> nanoseconds_ = 0;
    mutable std::atomic<bool> was_asked_ = false;
    mutable std::promise<void> asked_;
};

TEST(RoutingLock, CountsHowLongAThreadWaited) {
    WatchedClock clock;
    RoutingLock mutex(clock);
    Seconds waited = 0;
    mutex.lock();
    std::jthread other([&] {
        const std::lock_guard lock(mutex);
        waited = mutex.waited();
    });
    clock.wait_until_asked();
    clock.advance(std::chrono::seconds(3));
    mutex.unlock();
    other.join();
    EXPECT_EQ(waited, 3);
}

TEST(RoutingLock, ReadsNoClockWhenNobodyHoldsIt) {
    WatchedClock clock;
    RoutingLock mutex(clock);
    const std::lock_guard lock(mutex);
    EXPECT_FALSE(clock.was_asked());
    EXPECT_EQ(mutex.waited(), 0);
}

}  // namespace
}  // namespace prefix_router::proxy
