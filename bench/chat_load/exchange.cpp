#include "chat_load/exchange.hpp"

#include <array>
#include <utility>

#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>

namespace prefix_router::chat_load {
namespace {

namespace http = boost::beast::http;
using ResponseParser = http::response_parser<http::buffer_body>;

}  // namespace

/// One request under way. The timer closes the socket when it takes too long.
struct ChatClient::Exchange {
    Exchange(net::io_context& io, std::string all, AnswerCheck answer)
        : deadline(io.get_executor()), bytes(std::move(all)), check(std::move(answer)) {}

    std::unique_ptr<Socket> socket;
    bool is_reused = false;
    bool is_late = false;
    Timer deadline;
    std::string bytes;
    AnswerCheck check;
    TimePoint begun;
    TimePoint sent;
    Outcome outcome;
};

ChatClient::ChatClient(net::io_context& io, const Options& options, net::ip::tcp::endpoint server)
    : io_(io), options_(options), server_(std::move(server)) {}

Awaitable<Outcome> ChatClient::ask(ChatRequest request) {
    AnswerCheck check(options_.workload.stream, request.question, request.answer_tokens);
    Exchange exchange(io_, request_head(request.body.size()) + request.body, std::move(check));
    exchange.begun = clock_.now();
    exchange.deadline.expires_after(from_seconds(options_.timeout_seconds));
    exchange.deadline.async_wait([&exchange](const boost::system::error_code& error) {
        if (error) return;
        exchange.is_late = true;
        boost::system::error_code ignored;
        if (exchange.socket) exchange.socket->close(ignored);
    });
    if (!idle_.empty()) {
        exchange.socket = std::move(idle_.back());
        idle_.pop_back();
        exchange.is_reused = true;
    }
    Attempt attempt_result = co_await attempt(exchange);
    if (attempt_result == Attempt::Stale) {
        exchange.socket.reset();
        exchange.is_reused = false;
        attempt_result = co_await attempt(exchange);
    }
    // The wait's handler holds a reference to this frame: let it run before the frame goes.
    exchange.deadline.cancel();
    co_await net::post(io_, kAwait);
    co_return std::move(exchange.outcome);
}

Awaitable<ChatClient::Attempt> ChatClient::attempt(Exchange& exchange) {
    if (!exchange.is_reused) {
        const bool is_connected = co_await connect(exchange);
        if (!is_connected) co_return fail(exchange, Verdict::ConnectFailed);
    }
    const auto all = net::buffer(exchange.bytes);
    const auto [error, size] = co_await net::async_write(*exchange.socket, all, kAwait);
    exchange.sent = clock_.now();
    if (error == net::error::operation_aborted) co_return fail(exchange, Verdict::TimedOut);
    // A server may refuse before it has read everything: after any other error its answer, or its
    // absence, tells.
    const Attempt result = co_await read_answer(exchange);
    co_return result;
}

Awaitable<bool> ChatClient::connect(Exchange& exchange) {
    exchange.socket = std::make_unique<Socket>(io_.get_executor());
    ++connections_opened_;
    const auto [error] = co_await exchange.socket->async_connect(server_, kAwait);
    boost::system::error_code option_error;
    if (!error) exchange.socket->set_option(net::ip::tcp::no_delay(true), option_error);
    co_return !error && !option_error;
}

Awaitable<ChatClient::Attempt> ChatClient::read_answer(Exchange& exchange) {
    boost::beast::flat_buffer buffer;
    ResponseParser parser;
    parser.body_limit(boost::none);
    const auto [head_error, head_size] =
        co_await http::async_read_header(*exchange.socket, buffer, parser, kAwait);
    if (head_error && exchange.is_reused && !exchange.is_late && !parser.got_some())
        co_return Attempt::Stale;
    if (head_error) co_return fail(exchange, Verdict::Truncated);
    bool has_first_byte = false;
    std::array<char, 16 * 1024> piece;
    while (!parser.is_done()) {
        parser.get().body().data = piece.data();
        parser.get().body().size = piece.size();
        const auto [error, size] =
            co_await http::async_read_some(*exchange.socket, buffer, parser, kAwait);
        const std::size_t filled = piece.size() - parser.get().body().size;
        const bool counts = exchange.check.feed(std::string_view(piece.data(), filled));
        if (counts && !has_first_byte) {
            exchange.outcome.ttft = to_seconds(clock_.now() - exchange.sent);
            exchange.outcome.first_byte = to_seconds(clock_.now() - exchange.begun);
        }
        has_first_byte |= counts;
        if (error && error != http::error::need_buffer)
            co_return fail(exchange, Verdict::Truncated);
    }
    exchange.outcome.latency = to_seconds(clock_.now() - exchange.begun);
    exchange.outcome.status = parser.get().result_int();
    if (exchange.outcome.status != 200) co_return fail(exchange, Verdict::Status);
    exchange.outcome.verdict = exchange.check.finish();
    exchange.outcome.prompt_tokens = exchange.check.prompt_tokens();
    exchange.outcome.cached_tokens = exchange.check.cached_tokens();
    exchange.outcome.text = exchange.check.text();
    if (parser.keep_alive()) idle_.push_back(std::move(exchange.socket));
    co_return Attempt::Done;
}

ChatClient::Attempt ChatClient::fail(Exchange& exchange, Verdict verdict) {
    exchange.outcome.verdict = exchange.is_late ? Verdict::TimedOut : verdict;
    return Attempt::Done;
}

std::string ChatClient::request_head(std::size_t body_bytes) const {
    std::string head = "POST /v1/chat/completions HTTP/1.1\r\nHost: " + options_.host + ":" +
                       std::to_string(options_.port) + "\r\nUser-Agent: chat-load\r\n";
    if (!options_.api_key.empty()) head += "Authorization: Bearer " + options_.api_key + "\r\n";
    head += "Content-Type: application/json\r\nContent-Length: " + std::to_string(body_bytes);
    return head + "\r\n\r\n";
}

}  // namespace prefix_router::chat_load
