#pragma once

#include <memory>
#include <string>
#include <vector>

#include "prefix_router/base/clock.hpp"

#include "chat_load/answer_check.hpp"
#include "chat_load/chat_request.hpp"
#include "chat_load/options.hpp"
#include "engine_sim/net_types.hpp"

namespace prefix_router::chat_load {

using engine_sim::Awaitable;
using engine_sim::kAwait;
using engine_sim::Socket;
using engine_sim::Timer;
namespace net = engine_sim::net;

/// What one request brought.
struct Outcome {
    Verdict verdict = Verdict::Good;
    unsigned status = 0;     ///< with Verdict::Status
    Seconds ttft = 0;        ///< last byte of the request to first byte of the answer's body
    Seconds first_byte = 0;  ///< the same from the first byte of the request on
    Seconds latency = 0;     ///< first byte of the request to last byte of the answer
    std::uint64_t prompt_tokens = 0;
    std::uint64_t cached_tokens = 0;
    std::string text;
};

/// Sends requests to one server and keeps its idle connections, last in first out. A kept
/// connection that ends before the first byte of an answer is replaced once, as every HTTP client
/// does. Single-threaded.
class ChatClient {
  public:
    ChatClient(net::io_context& io, const Options& options, net::ip::tcp::endpoint server);

    Awaitable<Outcome> ask(ChatRequest request);
    std::size_t connections_opened() const { return connections_opened_; }

  private:
    struct Exchange;
    enum class Attempt { Done, Stale };

    Awaitable<Attempt> attempt(Exchange& exchange);
    Awaitable<bool> connect(Exchange& exchange);
    Awaitable<Attempt> read_answer(Exchange& exchange);
    Attempt fail(Exchange& exchange, Verdict verdict);
    std::string request_head(std::size_t body_bytes) const;

    net::io_context& io_;
    const Options& options_;
    net::ip::tcp::endpoint server_;
    SteadyClock clock_;
    std::vector<std::unique_ptr<Socket>> idle_;
    std::size_t connections_opened_ = 0;
};

}  // namespace prefix_router::chat_load
