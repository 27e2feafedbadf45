// The client's side of an exchange: its head and its body.
#include <algorithm>
#include <cstring>
#include <utility>

#include "proxy/events.hpp"
#include "proxy/exchange.hpp"
#include "proxy/worker_context.hpp"

namespace prefix_router::proxy {
namespace {

// The silence timer starts anew only after this much of a body: a byte a second does not hold a
// connection for ever.
constexpr std::size_t kProgress = std::size_t{16} << 10;
// A body is taken from the memory budget as it comes: a client that announces 64 MiB and sends
// nothing takes nothing.
constexpr std::size_t kBudgetStep = std::size_t{256} << 10;
// Ticks that a body waits for memory before its request is refused.
constexpr int kMemoryPatience = 20;

}  // namespace

/// Parses the head and takes what has come of the body. False: the head is not complete yet.
bool Exchange::take_head(std::string_view input) {
    const http::Arrival arrival{.peer_address = client_->peer,
                                .scheme = client_->stream.is_secured() ? "https" : "http",
                                .random = context_.random};
    const auto size = client_->head_parser.parse(input, arrival, head_);
    if (!size) {
        failure_ = size.error();
        bytes_in_ += input.size();
        return true;
    }
    if (*size == 0) {
        client_->keep(input);
        return false;
    }
    client_->head_parser.reset();
    bytes_in_ += *size;
    if (knows_client()) {
        begin_body(input.substr(*size));
    }
    return true;
}

net::Task<void> Exchange::read_head() {
    client_->arm(context_.config().timeouts.request_header, ErrorKind::RequestHeaderTimeout);
    while (true) {
        client_->stream.watch_read();
        const net::Events events = co_await client_->parker.park(kClientReadable | kInterrupts);
        if (is_interrupted(events)) {
            break;
        }
        const auto scratch = context_.worker.scratch();
        const net::IoResult got = client_->stream.read_some(scratch);
        if (got.status == net::IoStatus::WouldBlock) {
            continue;
        }
        if (got.status != net::IoStatus::Done) {
            fail(ErrorKind::ClientGone);
            break;
        }
        client_->received.append(scratch.data(), got.bytes);
        if (take_head(client_->received)) {
            break;
        }
    }
}

/// `rest`: what was received after the head.
void Exchange::begin_body(std::string_view rest) {
    if (head_.framing() == http::Framing::Length &&
        head_.content_length() > context_.config().limits.body_bytes) {
        fail(ErrorKind::BodyTooLarge);
    } else if (head_.framing() != http::Framing::None && reserve_body_memory(rest.size())) {
        accept_body(rest);
        return;
    }
    client_->keep(rest);
}

bool Exchange::has_whole_body() const {
    switch (head_.framing()) {
        case http::Framing::Length:
            return body_size_ == head_.content_length();
        case http::Framing::Chunked:
            return request_chunks_.is_done();
        case http::Framing::None:
        case http::Framing::UntilClose:
            break;
    }
    return true;
}

/// Takes memory from the budget for `bytes` more of the body.
bool Exchange::reserve_body_memory(std::size_t bytes) {
    const std::size_t most = head_.framing() == http::Framing::Length
                                 ? static_cast<std::size_t>(head_.content_length())
                                 : context_.config().limits.body_bytes;
    return memory_.grow_to(std::min(most, body_size_ + std::max(bytes, kBudgetStep)));
}

/// Moves the body's part of `bytes` into the body, and keeps what follows it for later.
void Exchange::accept_body(std::string_view bytes) {
    bytes_in_ += bytes.size();
    if (head_.framing() == http::Framing::Length) {
        const auto missing = static_cast<std::size_t>(head_.content_length()) - body_size_;
        const auto taken = std::min(missing, bytes.size());
        append_to_body(bytes.substr(0, taken));
        client_->keep(bytes.substr(taken));
        return;
    }
    std::string_view rest = bytes;
    for (auto piece = request_chunks_.next(rest); !piece.empty();
         piece = request_chunks_.next(rest)) {
        if (body_size_ + piece.size() > context_.config().limits.body_bytes) {
            fail(ErrorKind::BodyTooLarge);
            break;
        }
        append_to_body(piece);
    }
    if (request_chunks_.is_broken()) {
        fail(ErrorKind::BadRequest, "the chunked body is malformed");
    }
    client_->keep(rest);
}

void Exchange::append_to_body(std::string_view piece) {
    const std::size_t needed = head_.framing() == http::Framing::Length
                                   ? static_cast<std::size_t>(head_.content_length())
                                   : body_size_ + piece.size();
    if (body_.capacity() < needed) {
        net::Buffer larger = context_.worker.buffers().take(needed);
        if (body_size_ != 0) {
            std::memcpy(larger.data(), body_.data(), body_size_);
        }
        body_ = std::move(larger);
    }
    if (!piece.empty()) {
        std::memcpy(body_.data() + body_size_, piece.data(), piece.size());
        body_size_ += piece.size();
    }
}

net::Task<void> Exchange::read_body() {
    if (head_.expects_continue()) {
        co_await send_continue();
    }
    client_->arm(context_.config().timeouts.request_body, ErrorKind::RequestBodyTimeout);
    std::size_t progress = body_size_;
    unsigned reads = 0;
    while (!failure_ && !has_whole_body()) {
        if (!reserve_body_memory(client_->received.size())) {
            client_->disarm();  // it is not the client that is slow
            co_await wait_for_memory();
            client_->arm(context_.config().timeouts.request_body, ErrorKind::RequestBodyTimeout);
            continue;
        }
        if (!client_->received.empty()) {
            accept_body(client_->received);
        } else if (++reads % kReadsInARow == 0 || !receive_body()) {
            client_->stream.watch_read();
            const net::Events events = co_await client_->parker.park(kClientReadable | kInterrupts);
            if (is_interrupted(events)) {
                break;
            }
        }
        if (body_size_ - progress >= kProgress) {
            progress = body_size_;
            client_->arm(context_.config().timeouts.request_body, ErrorKind::RequestBodyTimeout);
        }
    }
    client_->disarm();
}

/// Reads once; false when there is nothing to read now. A sized body goes straight to its place.
bool Exchange::receive_body() {
    const bool is_sized = head_.framing() == http::Framing::Length;
    std::span<char> room = context_.worker.scratch();
    if (is_sized) {
        append_to_body({});
        const auto missing = static_cast<std::size_t>(head_.content_length()) - body_size_;
        room = std::span(body_.data() + body_size_, std::min(missing, kBudgetStep));
    }
    const net::IoResult got = client_->stream.read_some(room);
    if (got.status == net::IoStatus::WouldBlock) {
        return false;
    }
    if (got.status != net::IoStatus::Done) {
        fail(ErrorKind::ClientGone);
    } else if (is_sized) {
        body_size_ += got.bytes;
        bytes_in_ += got.bytes;
    } else {
        accept_body(std::string_view(room.data(), got.bytes));
    }
    return true;
}

/// Reading pauses while all requests together hold as much as they may; then this one is refused.
net::Task<void> Exchange::wait_for_memory() {
    for (int ticks = 0; ticks < kMemoryPatience; ++ticks) {
        client_->wake_on_tick();
        const net::Events events = co_await client_->parker.park(kTicked | kInterrupts);
        if (is_interrupted(events) || reserve_body_memory(client_->received.size())) {
            co_return;
        }
    }
    fail(ErrorKind::Overloaded, "too many request bodies are in memory; try again");
}

net::Task<void> Exchange::send_continue() {
    to_client_.add(http::kContinueAnswer);
    if (!flush_now()) {
        co_await flush();
    }
}

}  // namespace prefix_router::proxy
