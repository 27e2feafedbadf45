#pragma once

#include <chrono>

#include "prefix_router/base/contain.hpp"

#include "discovery/stop_signal.hpp"

namespace prefix_router::discovery {

/// One place that names backends. run_until_stopped() is called once, on a thread of the source's
/// own, and returns soon after stop(), which another thread calls.
class Source {
  public:
    Source() = default;
    virtual ~Source() = default;
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;

    /// An exception costs a pause, after which the source begins anew.
    void run_until_stopped() {
        constexpr std::chrono::seconds kPause{1};
        while (!stop_.is_raised() && !contain("discovery", [this] { run(); })) {
            stop_.wait(kPause);
        }
    }
    virtual void stop() { stop_.raise(); }

  protected:
    /// Returns soon after the stop signal.
    virtual void run() = 0;
    const StopSignal& stop_signal() const { return stop_; }

  private:
    StopSignal stop_;
};

}  // namespace prefix_router::discovery
