#pragma once

#include <cstdint>

#include "prefix_router/base/random.hpp"

#include "chat_load/client_watch.hpp"
#include "chat_load/exchange.hpp"
#include "chat_load/options.hpp"
#include "chat_load/report.hpp"

namespace prefix_router::chat_load {

/// Runs the workload: closed loop (a fixed number of conversations at a time) or open loop
/// (conversations start at random times at a given mean rate, whatever becomes of those before).
/// Construct, io.run(), then read the results. Single-threaded.
class LoadRun {
  public:
    LoadRun(net::io_context& io, const Options& options, const net::ip::tcp::endpoint& server);

    void start();
    const Tally& tally() const { return tally_; }
    const ClientWatch& watch() const { return watch_; }

  private:
    Awaitable<void> converse_again_and_again();
    Awaitable<void> start_conversations_at_rate();
    Awaitable<void> converse_once();
    Awaitable<void> converse(std::uint64_t number);
    Awaitable<void> pause(Seconds seconds);
    Awaitable<void> report_progress();

    Seconds elapsed() const { return to_seconds(clock_.now() - begun_); }
    bool is_over() const;
    Seconds draw_exponential(Seconds mean);
    void begin_task() { ++tasks_; }
    void end_task();

    net::io_context& io_;
    const Options& options_;
    ChatClient client_;
    ClientWatch watch_;
    Tally tally_;
    SteadyClock clock_;
    TimePoint begun_;
    Random random_;
    std::uint64_t next_conversation_ = 0;
    std::size_t requests_begun_ = 0;
    std::size_t tasks_ = 0;
};

}  // namespace prefix_router::chat_load
