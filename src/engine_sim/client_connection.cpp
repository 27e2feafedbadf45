#include "engine_sim/client_connection.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include <boost/asio/write.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>

namespace prefix_router::engine_sim {
namespace {

namespace http = boost::beast::http;
using RequestParser = http::request_parser<http::string_body>;

constexpr std::size_t kBodyLimit = std::size_t{256} << 20;
constexpr std::uint32_t kHeaderLimit = 1U << 20;
constexpr std::size_t kReadSize = std::size_t{16} * 1024;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

ClientConnection::ReadStatus status_of(const boost::system::error_code& error) {
    if (error == http::error::body_limit) return ClientConnection::ReadStatus::TooLarge;
    // The connection ended, in order or not: there is nobody to answer.
    if (error.category() != http::make_error_code(http::error::bad_version).category() ||
        error == http::error::end_of_stream || error == http::error::partial_message)
        return ClientConnection::ReadStatus::Closed;
    return ClientConnection::ReadStatus::Malformed;
}

HttpRequest take_request(RequestParser& parser) {
    auto message = parser.release();
    HttpRequest request;
    request.method = std::string(message.method_string());
    const std::string_view target(message.target().data(), message.target().size());
    request.path = std::string(target.substr(0, target.find('?')));
    request.keep_alive = message.keep_alive();
    request.is_http_1_0 = message.version() < 11;
    request.body = std::move(message.body());
    return request;
}

}  // namespace

ClientConnection::ClientConnection(Socket socket, double idle_close_seconds)
    : socket_(std::move(socket)),
      wake_(socket_.get_executor()),
      idle_close_seconds_(idle_close_seconds) {}

Awaitable<bool> ClientConnection::wait_for_bytes() {
    if (buffer_.size() > 0) co_return true;
    Timer idle(socket_.get_executor());
    if (idle_close_seconds_ > 0) {
        idle.expires_after(std::chrono::duration_cast<std::chrono::nanoseconds>(
            std::chrono::duration<double>(idle_close_seconds_)));
        idle.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
            if (!error) self->stop();
        });
    }
    const auto space = buffer_.prepare(kReadSize);
    const auto [error, size] = co_await socket_.async_read_some(space, kAwait);
    buffer_.commit(size);
    co_return !error;
}

Awaitable<ClientConnection::Read> ClientConnection::read_request() {
    Read read;
    if (!co_await wait_for_bytes()) co_return read;
    RequestParser parser;
    parser.body_limit(kBodyLimit);
    parser.header_limit(kHeaderLimit);
    auto [header_error, header_size] =
        co_await http::async_read_header(socket_, buffer_, parser, kAwait);
    if (!header_error && parser.get()[http::field::expect] == "100-continue" &&
        buffer_.size() == 0) {
        if (!co_await send(kContinue)) co_return read;
    }
    if (!header_error && !parser.is_done()) {
        const auto [body_error, body_size] =
            co_await http::async_read(socket_, buffer_, parser, kAwait);
        header_error = body_error;
    }
    if (header_error) {
        read.status = status_of(header_error);
        co_return read;
    }
    read.status = ReadStatus::Request;
    read.request = take_request(parser);
    co_return read;
}

Awaitable<bool> ClientConnection::send(std::string_view bytes) {
    const auto piece = net::buffer(bytes.data(), bytes.size());
    const auto [error, size] = co_await net::async_write(socket_, piece, kAwait);
    if (error) departed_ = true;
    co_return !error;
}

void ClientConnection::begin_watch() {
    const unsigned watch = ++watch_;
    progressed_ = false;
    socket_.async_wait(Socket::wait_read,
                       [self = shared_from_this(), watch](const boost::system::error_code& error) {
                           self->on_readable(error, watch);
                       });
}

void ClientConnection::end_watch() {
    ++watch_;
    boost::system::error_code ignored;  // a connection that cannot be cancelled is closed already
    socket_.cancel(ignored);
}

void ClientConnection::on_readable(const boost::system::error_code& error, unsigned watch) {
    if (error || watch != watch_) return;
    char byte = 0;
    const auto size = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    // A next request on the same connection (pipelining) is no departure; it ends the watch.
    const bool is_alive = size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR));
    if (!is_alive) depart();
}

void ClientConnection::depart() {
    departed_ = true;
    on_progress();
}

Awaitable<void> ClientConnection::wait_for_progress() {
    while (!progressed_ && !departed_) {
        wake_.expires_at(Timer::time_point::max());
        co_await wake_.async_wait(kAwait);
    }
    progressed_ = false;
}

void ClientConnection::on_progress() {
    progressed_ = true;
    wake_.cancel();
}

Awaitable<void> ClientConnection::close_lingering() {
    boost::system::error_code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
    Timer patience(socket_.get_executor());
    patience.expires_after(std::chrono::milliseconds(500));
    patience.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
        if (!error) self->stop();
    });
    while (!departed_) {
        buffer_.clear();
        const auto space = buffer_.prepare(kReadSize);
        const auto [error, size] = co_await socket_.async_read_some(space, kAwait);
        if (error) break;
    }
    socket_.close(ignored);
}

void ClientConnection::stop() {
    boost::system::error_code ignored;
    socket_.close(ignored);
    depart();
}

}  // namespace prefix_router::engine_sim
