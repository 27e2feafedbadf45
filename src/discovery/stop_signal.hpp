#pragma once

#include <chrono>

namespace prefix_router::discovery {

/// Tells a thread that waits in poll() to end. Raised once, for good; thread-safe.
class StopSignal {
  public:
    /// Throws std::system_error without a descriptor.
    StopSignal();
    ~StopSignal();
    StopSignal(const StopSignal&) = delete;
    StopSignal& operator=(const StopSignal&) = delete;

    void raise();
    bool is_raised() const;
    /// Readable from raise() on.
    int descriptor() const { return descriptor_; }
    /// Waits for raise(), but no longer than `time`.
    void wait(std::chrono::milliseconds time) const;

  private:
    int descriptor_;
};

}  // namespace prefix_router::discovery
