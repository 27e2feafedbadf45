#pragma once

#include <cstddef>
#include <fstream>
#include <memory>

#include "prefix_router/sim/trace.hpp"

#include "chat_load/client_watch.hpp"
#include "chat_load/exchange.hpp"
#include "chat_load/options.hpp"
#include "chat_load/report.hpp"

namespace prefix_router::chat_load {

/// Sends a trace as chat requests, each when it is due: at its stamp, or closed loop when its
/// session's previous answer has ended and its think time is over. Times are reported in seconds of
/// the trace, and a time to first token runs from when its request was due, so that a late client
/// flatters nobody. The first tenth of the requests warms up. Construct, start(), io.run(), then
/// read the results. Single-threaded.
class TraceRun {
  public:
    /// Fails when the file of samples cannot be written.
    static Result<std::unique_ptr<TraceRun>> open(net::io_context& io, const Options& options,
                                                  const net::ip::tcp::endpoint& server,
                                                  sim::Trace trace);

    void start();
    const Tally& tally() const { return tally_; }
    const ClientWatch& watch() const { return watch_; }

  private:
    TraceRun(net::io_context& io, const Options& options, const net::ip::tcp::endpoint& server,
             sim::Trace trace);

    Awaitable<void> send_all();
    Awaitable<void> serve_from(std::size_t request, Seconds due);
    Awaitable<void> wait_until(Seconds due);
    Awaitable<void> report_progress();
    ChatRequest make_request(std::size_t request) const;
    void write_sample(Seconds due, const Outcome& outcome);

    /// Seconds of the trace since start(), after its own speed was applied.
    Seconds elapsed() const { return to_seconds(clock_.now() - begun_); }
    Seconds at_speed(Seconds recorded) const { return recorded / options_.trace.speed; }
    void end_task();

    net::io_context& io_;
    const Options& options_;
    sim::Trace trace_;
    ChatClient client_;
    ClientWatch watch_;
    Tally tally_;
    SteadyClock clock_;  ///< runs options.speed_up times faster
    TimePoint begun_;
    std::ofstream samples_;
    std::size_t sent_ = 0;
    std::size_t tasks_ = 0;
};

}  // namespace prefix_router::chat_load
