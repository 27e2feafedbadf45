#pragma once

#include "discovery/stop_signal.hpp"

namespace prefix_router::discovery {

/// One place that names backends. run() is called once, on a thread of the source's own, and
/// returns soon after stop(), which another thread calls.
class Source {
  public:
    Source() = default;
    virtual ~Source() = default;
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;

    virtual void run() = 0;
    virtual void stop() { stop_.raise(); }

  protected:
    const StopSignal& stop_signal() const { return stop_; }

  private:
    StopSignal stop_;
};

}  // namespace prefix_router::discovery
