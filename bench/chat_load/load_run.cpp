#include "chat_load/load_run.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#include <boost/asio/co_spawn.hpp>

#include "chat_load/workload.hpp"

namespace prefix_router::chat_load {
namespace {

// An exception in a coroutine is a bug of this program: it ends it, with its message.
void rethrow(const std::exception_ptr& failure) {
    if (failure) std::rethrow_exception(failure);
}

}  // namespace

LoadRun::LoadRun(net::io_context& io, const Options& options, const net::ip::tcp::endpoint& server)
    : io_(io),
      options_(options),
      client_(io, options, server),
      watch_(io),
      begun_(clock_.now()),
      random_(options.workload.seed) {}

void LoadRun::start() {
    begun_ = clock_.now();
    net::co_spawn(io_, watch_.run(), rethrow);
    if (options_.progress) net::co_spawn(io_, report_progress(), rethrow);
    if (options_.rate > 0) {
        begin_task();
        net::co_spawn(io_, start_conversations_at_rate(), rethrow);
        return;
    }
    for (std::size_t i = 0; i < options_.concurrency; ++i) {
        begin_task();
        net::co_spawn(io_, converse_again_and_again(), rethrow);
    }
}

bool LoadRun::is_over() const {
    return elapsed() >= options_.duration_seconds ||
           (options_.requests > 0 && requests_begun_ >= options_.requests);
}

void LoadRun::end_task() {
    if (--tasks_ > 0) return;
    tally_.measured_seconds = elapsed() - std::min(options_.warmup_seconds, elapsed());
    tally_.connections = client_.connections_opened();
    watch_.stop();
}

Awaitable<void> LoadRun::converse_again_and_again() {
    // Not all at the same moment.
    co_await pause(random_.unit() * options_.think_seconds);
    while (!is_over()) {
        co_await converse(next_conversation_++);
        co_await pause(draw_exponential(options_.think_seconds));
    }
    end_task();
}

Awaitable<void> LoadRun::start_conversations_at_rate() {
    const double conversations_per_s = options_.rate / static_cast<double>(options_.workload.turns);
    while (!is_over()) {
        begin_task();
        net::co_spawn(io_, converse_once(), rethrow);
        co_await pause(draw_exponential(1 / conversations_per_s));
    }
    end_task();
}

Awaitable<void> LoadRun::converse_once() {
    co_await converse(next_conversation_++);
    end_task();
}

Awaitable<void> LoadRun::converse(std::uint64_t number) {
    Conversation conversation(options_.workload, number);
    while (!conversation.is_over() && !is_over()) {
        ++requests_begun_;
        const bool is_measured = elapsed() >= options_.warmup_seconds;
        ChatRequest request = conversation.next_request();
        const Outcome outcome = co_await client_.ask(std::move(request));
        tally_.add(outcome, is_measured);
        if (outcome.verdict != Verdict::Good) {
            co_await pause(0.05);  // a server that refuses at once is not to be hammered
            break;
        }
        conversation.answered(outcome.text);
        if (!conversation.is_over()) co_await pause(draw_exponential(options_.think_seconds));
    }
}

Awaitable<void> LoadRun::pause(Seconds seconds) {
    Timer timer(io_.get_executor());
    timer.expires_after(from_seconds(std::min(seconds, options_.duration_seconds)));
    co_await timer.async_wait(kAwait);
}

Awaitable<void> LoadRun::report_progress() {
    while (tasks_ > 0) {
        co_await pause(0.5);
        std::fprintf(stderr, "\r%-28s %3.0f of %.0f s, %zu answers, %llu errors ",
                     options_.label.c_str(), std::min(elapsed(), options_.duration_seconds),
                     options_.duration_seconds, tally_.ttft.size(),
                     static_cast<unsigned long long>(tally_.errors()));
    }
    std::fprintf(stderr, "\r%78s\r", "");
}

Seconds LoadRun::draw_exponential(Seconds mean) {
    return -mean * std::log(1 - random_.unit());
}

}  // namespace prefix_router::chat_load
