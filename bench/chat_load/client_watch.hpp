#pragma once

#include <vector>

#include "chat_load/exchange.hpp"

namespace prefix_router::chat_load {

/// Watches the load client itself: how late its event loop runs and how much of a core it uses. A
/// client that is late measures itself, not the server.
class ClientWatch {
  public:
    explicit ClientWatch(net::io_context& io);

    Awaitable<void> run();
    void stop();

    /// A request that was sent this much after it was due.
    void note_lag(Seconds lag) { lags_.push_back(lag); }

    Seconds lag_p99() const;
    /// CPU seconds of this process per second of wall time since run() began; 1 is a whole core.
    double cpu_share() const;
    bool is_bottleneck() const;

  private:
    Timer timer_;
    SteadyClock clock_;
    TimePoint begun_;
    bool stopped_ = false;
    std::vector<Seconds> lags_;
};

/// The value that a share `quantile` of the values does not exceed; 0 when there are none.
Seconds quantile_of(std::vector<Seconds> values, double quantile);

}  // namespace prefix_router::chat_load
