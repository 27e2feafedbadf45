#include "chat_load/trace_run.hpp"

#include <cstdio>
#include <exception>
#include <memory>
#include <utility>

#include <boost/asio/co_spawn.hpp>

#include "chat_load/trace_prompt.hpp"

namespace prefix_router::chat_load {
namespace {

// An exception in a coroutine is a bug of this program: it ends it, with its message.
void rethrow(const std::exception_ptr& failure) {
    if (failure) std::rethrow_exception(failure);
}

}  // namespace

Result<std::unique_ptr<TraceRun>> TraceRun::open(net::io_context& io, const Options& options,
                                                 const net::ip::tcp::endpoint& server,
                                                 sim::Trace trace) {
    std::unique_ptr<TraceRun> run(new TraceRun(io, options, server, std::move(trace)));
    const std::string& path = options.trace.samples_path;
    if (path.empty()) return run;
    run->samples_.open(path);
    if (!run->samples_) return Error(ErrorKind::Io, "cannot write '" + path + "'");
    return run;
}

TraceRun::TraceRun(net::io_context& io, const Options& options,
                   const net::ip::tcp::endpoint& server, sim::Trace trace)
    : io_(io),
      options_(options),
      trace_(std::move(trace)),
      client_(io, options, server),
      watch_(io),
      clock_(options.speed_up),
      begun_(clock_.now()) {}

void TraceRun::start() {
    begun_ = clock_.now();
    ++tasks_;
    net::co_spawn(io_, watch_.run(), rethrow);
    net::co_spawn(io_, send_all(), rethrow);
    if (options_.progress) net::co_spawn(io_, report_progress(), rethrow);
}

Awaitable<void> TraceRun::send_all() {
    for (std::size_t k = 0; k < trace_.requests.size(); ++k) {
        const sim::TraceRequest& request = trace_.requests[k];
        if (options_.trace.closed_loop && !request.opens_session) continue;
        const Seconds due = at_speed(request.arrival);
        co_await wait_until(due);
        ++tasks_;
        net::co_spawn(io_, serve_from(k, due), rethrow);
    }
    end_task();
}

Awaitable<void> TraceRun::serve_from(std::size_t request, Seconds due) {
    bool goes_on = true;
    while (goes_on) {
        const bool is_measured = sent_++ >= trace_.requests.size() / 10;
        ChatRequest chat = make_request(request);
        const Seconds late = elapsed() - due;
        watch_.note_lag(late / options_.speed_up);
        Outcome outcome = co_await client_.ask(std::move(chat));
        outcome.ttft = late + outcome.first_byte * options_.speed_up;
        outcome.latency = late + outcome.latency * options_.speed_up;
        tally_.add(outcome, is_measured);
        if (samples_.is_open()) write_sample(due, outcome);
        request = trace_.requests[request].next_turn;
        goes_on = options_.trace.closed_loop && request != sim::TraceRequest::kNoTurn;
        if (!goes_on) break;
        due = elapsed() + at_speed(trace_.requests[request].think);
        co_await wait_until(due);
    }
    end_task();
}

Awaitable<void> TraceRun::wait_until(Seconds due) {
    const Seconds left = (due - elapsed()) / options_.speed_up;
    if (left <= 0) co_return;
    Timer timer(io_.get_executor());
    timer.expires_after(from_seconds(left));
    co_await timer.async_wait(kAwait);
}

ChatRequest TraceRun::make_request(std::size_t request) const {
    ChatRequest chat;
    chat.question = prompt_text(trace_, request);
    chat.answer_tokens = static_cast<std::size_t>(trace_.requests[request].output_tokens);
    chat.body = chat_body(options_.workload.model, message_json("user", chat.question),
                          chat.answer_tokens, true);
    return chat;
}

void TraceRun::write_sample(Seconds due, const Outcome& outcome) {
    char line[256];
    std::snprintf(line, sizeof line,
                  "{\"due_s\":%.3f,\"ttft_s\":%.4f,\"prompt_tokens\":%llu,\"cached_tokens\":%llu,"
                  "\"verdict\":\"%s\"}\n",
                  due, outcome.ttft, static_cast<unsigned long long>(outcome.prompt_tokens),
                  static_cast<unsigned long long>(outcome.cached_tokens),
                  std::string(to_string(outcome.verdict)).c_str());
    samples_ << line;
}

Awaitable<void> TraceRun::report_progress() {
    while (tasks_ > 0) {
        co_await wait_until(elapsed() + options_.speed_up / 2);
        std::fprintf(stderr, "\r%-28s %5.1f %% sent, %zu answers, %llu errors ",
                     options_.label.c_str(),
                     100 * static_cast<double>(sent_) / static_cast<double>(trace_.requests.size()),
                     tally_.ttft.size(), static_cast<unsigned long long>(tally_.errors()));
    }
    std::fprintf(stderr, "\r%78s\r", "");
}

void TraceRun::end_task() {
    if (--tasks_ > 0) return;
    tally_.measured_seconds = elapsed() / options_.speed_up;
    tally_.connections = client_.connections_opened();
    watch_.stop();
}

}  // namespace prefix_router::chat_load
