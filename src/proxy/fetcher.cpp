#include "proxy/fetcher.hpp"

#include <utility>

#include "prefix_router/net/connect.hpp"

#include "proxy/events.hpp"

namespace prefix_router::proxy {
namespace {

constexpr std::size_t kLongestBody = std::size_t{4} << 20;

}  // namespace

Fetcher::Fetcher(net::Worker& worker, BackendRef backend)
    : worker_(worker), backend_(std::move(backend)), parser_(http::HeadLimits{}) {
    worker_.ticks().add(*this);
}

net::Task<Result<Fetched>> Fetcher::get(std::string_view path, std::chrono::milliseconds timeout) {
    failure_.reset();
    received_.clear();
    body_.clear();
    parser_.reset();
    chunks_.reset();
    has_head_ = false;
    is_done_ = false;
    deadline_.arm(worker_.ticks().now(), timeout, ErrorKind::FirstByteTimeout);
    co_await connect(timeout);
    if (!failure_) {
        co_await exchange(path);
    }
    deadline_.disarm();
    parker_.clear(kExpired);
    stream_.close();
    if (failure_) {
        Result<Fetched> failed(*failure_);
        co_return failed;
    }
    Fetched fetched;
    fetched.status = head_.status();
    fetched.body = std::move(body_);
    Result<Fetched> result(std::move(fetched));
    co_return result;
}

net::Task<bool> Fetcher::sleep(std::chrono::milliseconds time) {
    deadline_.arm(worker_.ticks().now(), time, ErrorKind::FirstByteTimeout);
    const net::Events events = co_await parker_.park(kExpired | kStopped);
    deadline_.disarm();
    co_return (events & kStopped) == 0;
}

void Fetcher::stop() {
    parker_.signal(kStopped);
}
bool Fetcher::is_stopped() const {
    return parker_.has(kStopped);
}

void Fetcher::on_readable() {
    parker_.signal(kBackendReadable);
}
void Fetcher::on_writable() {
    parker_.signal(kBackendWritable);
}

void Fetcher::on_tick(net::Tick now) {
    const bool is_over = deadline_.is_due(now);
    if (!is_over && !address_deadline_.is_due(now)) {
        return;
    }
    missed_ = (address_deadline_.is_armed() ? address_deadline_ : deadline_).missed();
    address_deadline_.disarm();
    if (is_over) {
        deadline_.disarm();
    }
    parker_.signal(kExpired);
}

/// Tries the backend's addresses in turn; each has its share of the time.
net::Task<void> Fetcher::connect(std::chrono::milliseconds timeout) {
    const auto endpoints = backend_->address.endpoints();
    const auto share = net::connect_share(timeout, endpoints->size());
    failure_ = Error(ErrorKind::ConnectFailed, backend_->address.trouble());
    for (const net::Endpoint& endpoint : *endpoints) {
        failure_.reset();
        parker_.clear(kExpired);
        address_deadline_.arm(worker_.ticks().now(), share, ErrorKind::ConnectTimeout);
        co_await connect_to(endpoint);
        if (!failure_ && backend_->access.tls) {
            co_await handshake();
        }
        address_deadline_.disarm();
        if (!failure_ || parker_.has(kStopped) || !deadline_.is_armed()) {
            co_return;
        }
    }
    backend_->address.refresh();
}

net::Task<void> Fetcher::connect_to(const net::Endpoint& endpoint) {
    net::Dial dialled = net::dial(worker_, endpoint);
    if (!dialled.stream.is_open()) {
        fail(net::connect_error_kind(dialled.error));
        co_return;
    }
    stream_ = std::move(dialled.stream);
    stream_.listen(this);
    if (dialled.is_connected) {
        co_return;
    }
    parker_.clear(kBackendWritable);
    stream_.watch_write();
    const net::Events events = co_await parker_.park(kBackendWritable | kInterrupts);
    if (is_interrupted(events)) {
        co_return;
    }
    const int error = stream_.connect_error();
    if (error != 0) {
        fail(net::connect_error_kind(error));
    }
}

net::Task<void> Fetcher::handshake() {
    stream_.secure(backend_->access.tls);
    net::IoStatus status = stream_.handshake();
    while (status == net::IoStatus::WouldBlock) {
        co_await wait_for_bytes();
        if (failure_) {
            co_return;
        }
        status = stream_.handshake();
    }
    if (status == net::IoStatus::Failed) {
        failure_ = stream_.handshake_failure();
    }
}

net::Task<void> Fetcher::exchange(std::string_view path) {
    request_ = "GET " + backend_->url.base_path;
    request_ += path;
    request_ += " HTTP/1.1\r\nHost: " + backend_->url.authority +
                "\r\nUser-Agent: prefix-router\r\nAccept: */*\r\nConnection: close\r\n";
    if (const auto& value = backend_->access.authorization; value && !value->empty()) {
        request_ += "Authorization: " + *value + "\r\n";
    }
    request_ += "\r\n";
    net::Pieces pieces;
    pieces.add(request_);
    // A fresh connection's send buffer holds a few hundred bytes.
    if (stream_.write_some(pieces).status != net::IoStatus::Done || !pieces.empty()) {
        fail(ErrorKind::ResetBeforeResponse);
    }
    while (!failure_ && !is_done_) {
        if (!receive()) {
            co_await wait_for_bytes();
        }
    }
}

/// Sets `failure_` when none come in time.
net::Task<void> Fetcher::wait_for_bytes() {
    parker_.clear(kBackendReadable);
    stream_.watch_read();
    const net::Events events = co_await parker_.park(kBackendReadable | kInterrupts);
    is_interrupted(events);
}

/// Reads once; false when there is nothing to read now.
bool Fetcher::receive() {
    const auto scratch = worker_.scratch();
    const net::IoResult got = stream_.read_some(scratch);
    if (got.status == net::IoStatus::WouldBlock) {
        return false;
    }
    if (got.status == net::IoStatus::Done) {
        const std::string_view bytes(scratch.data(), got.bytes);
        if (has_head_) {
            take_body(bytes);
        } else {
            received_.append(bytes);
            parse();
        }
    } else if (has_head_ && head_.framing() == http::Framing::UntilClose &&
               got.status == net::IoStatus::Ended) {
        is_done_ = true;
    } else {
        fail(has_head_ ? ErrorKind::ResetMidResponse : ErrorKind::ResetBeforeResponse);
    }
    return true;
}

void Fetcher::parse() {
    const http::Asker asker;
    std::string_view bytes = received_;
    do {
        const auto size = parser_.parse(bytes, asker, head_);
        if (!size) {
            failure_ = size.error();
            return;
        }
        if (*size == 0) {
            received_.erase(0, received_.size() - bytes.size());
            return;
        }
        parser_.reset();
        bytes.remove_prefix(*size);
    } while (head_.is_interim());
    has_head_ = true;
    take_body(bytes);
}

void Fetcher::take_body(std::string_view bytes) {
    if (head_.framing() == http::Framing::Chunked) {
        for (auto piece = chunks_.next(bytes); !piece.empty(); piece = chunks_.next(bytes)) {
            body_ += piece;
        }
        is_done_ = chunks_.is_done();
        if (chunks_.is_broken()) {
            fail(ErrorKind::BadResponse);
        }
    } else if (head_.framing() == http::Framing::Length) {
        body_ += bytes.substr(0, head_.content_length() - body_.size());
        is_done_ = body_.size() == head_.content_length();
    } else if (head_.framing() == http::Framing::UntilClose) {
        body_ += bytes;
    } else {
        is_done_ = true;
    }
    if (body_.size() > kLongestBody) {
        fail(ErrorKind::BadResponse);
    }
}

bool Fetcher::is_interrupted(net::Events events) {
    if ((events & kStopped) != 0) {
        fail(ErrorKind::Draining);
    } else if ((events & kExpired) != 0) {
        fail(missed_);
    }
    return failure_.has_value();
}

void Fetcher::fail(ErrorKind kind) {
    failure_ = Error(kind);
}

}  // namespace prefix_router::proxy
