#pragma once

#include <condition_variable>
#include <mutex>

#include "integration/support/socket.hpp"

namespace prefix_router::testing {

/// Holds one thread of a test back until another lets it go. Opens once. Thread-safe.
class Gate {
  public:
    void open() {
        const std::lock_guard lock(mutex_);
        is_open_ = true;
        changed_.notify_all();
    }

    /// False when nobody opened it within the patience.
    bool wait() {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, kPatience, [this] { return is_open_; });
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_open_ = false;
};

}  // namespace prefix_router::testing
