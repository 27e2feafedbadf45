// The answer's way to the client: raw bytes, each piece as it comes, framing only followed.
#include <algorithm>
#include <cstring>
#include <utility>

#include "proxy/events.hpp"
#include "proxy/exchange.hpp"
#include "proxy/worker_context.hpp"

namespace prefix_router::proxy {
namespace {

constexpr unsigned kLeastError = 400;
// So much is copied to be sent at the end of the worker's turn.
constexpr std::size_t kPutOff = std::size_t{4} << 10;

}  // namespace

net::Task<void> Exchange::relay() {
    begin_relay();
    if (answer_.is_switch()) {
        co_await tunnel();
        co_return;
    }
    const auto silence = context_.config().timeouts.idle;
    unsigned reads = 0;
    while (true) {
        if (to_client_.left() <= kPutOff && !to_client_.empty()) {
            keep_to_client();
            co_await context_.worker.turn_end();
        }
        if (!flush_now()) {
            co_await flush();
        }
        if (failure_ || is_answer_done_) {
            break;
        }
        if (!std::exchange(read_filled_room_, false) || ++reads % kReadsInARow == 0) {
            client_->arm(silence, ErrorKind::IdleTimeout);
            connection_->stream.watch_read();
            const net::Events events =
                co_await client_->parker.park(kBackendReadable | kBackendWritable | kInterrupts);
            if (is_interrupted(events)) {
                break;
            }
            if ((events & kBackendWritable) != 0 && !outgoing_.empty()) {
                send_now();  // an answer that began early may need the whole request to go on
            }
            if ((events & kBackendReadable) == 0) {
                continue;
            }
        }
        receive_answer_body();
    }
}

void Exchange::begin_relay() {
    stage_ = Stage::Relaying;
    if (is_request_sent_) {
        release_body();
    }
    const auto format =
        prompt::AnswerReader::format_of(answer_.content_type(), answer_.content_encoding());
    answer_reader_.emplace(dialect_, format, ticket_->ask().key, answer_extends_key_);
    to_client_.add(answer_.text());
    answer_left_ = answer_.content_length();
    if (answer_.is_switch()) {
        to_client_.add(answer_rest_);
    } else {
        pass_on(answer_rest_);
    }
}

/// The request was sent and never will be again: there is no retry once an answer is passed on.
void Exchange::release_body() {
    body_ = net::Buffer();
    memory_.release();
}

/// Queues what of `bytes` belongs to the answer, valid until the next suspension.
void Exchange::pass_on(std::string_view bytes) {
    switch (answer_.framing()) {
        case http::Framing::None:
            is_answer_done_ = true;
            has_surplus_ = !bytes.empty();
            break;
        case http::Framing::Length:
            pass_on_sized(bytes);
            break;
        case http::Framing::Chunked:
            pass_on_chunked(bytes);
            break;
        case http::Framing::UntilClose:
            pass_on_until_close(bytes);
            break;
    }
}

void Exchange::pass_on_sized(std::string_view bytes) {
    const auto taken = bytes.substr(0, std::min<std::uint64_t>(answer_left_, bytes.size()));
    answer_left_ -= taken.size();
    is_answer_done_ = answer_left_ == 0;
    show_payload(taken);
    to_client_.add(taken);
    has_surplus_ = taken.size() < bytes.size();
}

void Exchange::pass_on_chunked(std::string_view bytes) {
    const bool removes_chunks = answer_.relay() == http::Relay::RemoveChunks;
    unchunked_.clear();
    std::string_view rest = bytes;
    for (auto payload = answer_chunks_.next(rest); !payload.empty();
         payload = answer_chunks_.next(rest)) {
        show_payload(payload);
        if (removes_chunks) {
            unchunked_ += payload;
        }
    }
    if (answer_chunks_.is_broken()) {
        fail(ErrorKind::BadResponse, "the backend's chunked body is malformed");
    }
    to_client_.add(removes_chunks ? std::string_view(unchunked_)
                                  : bytes.substr(0, bytes.size() - rest.size()));
    is_answer_done_ = answer_chunks_.is_done();
    has_surplus_ = !rest.empty();
}

void Exchange::pass_on_until_close(std::string_view bytes) {
    if (bytes.empty()) {
        return;
    }
    show_payload(bytes);
    if (answer_.relay() == http::Relay::AddChunks) {
        size_line_.emplace(bytes.size());
        to_client_.add(size_line_->view());
        to_client_.add(bytes);
        to_client_.add(http::kChunkEnd);
    } else {
        to_client_.add(bytes);
    }
}

/// Reads once. A read that filled the room is followed by another at once; else there is nothing
/// more and a read would be in vain.
void Exchange::receive_answer_body() {
    const auto scratch = context_.worker.scratch();
    const net::IoResult got = connection_->stream.read_some(scratch);
    if (got.status == net::IoStatus::Done) {
        read_filled_room_ = got.bytes == scratch.size();
        pass_on(std::string_view(scratch.data(), got.bytes));
    } else if (got.status != net::IoStatus::WouldBlock) {
        end_at_close(got.status);
    }
}

/// The end of the connection is the end of the body only where the head said so.
void Exchange::end_at_close(net::IoStatus status) {
    if (answer_.framing() != http::Framing::UntilClose || status != net::IoStatus::Ended) {
        fail(ErrorKind::ResetMidResponse);
        return;
    }
    is_answer_done_ = true;
    if (answer_.relay() == http::Relay::AddChunks) {
        to_client_.add(http::kLastChunk);
    }
}

/// An error is no first token: it comes early, before any work. The first bytes of an answer that
/// is there as a whole are told with its end, one critical section for both.
void Exchange::show_payload(std::string_view payload) {
    const bool is_error = answer_.status() >= kLeastError;
    if (!payload.empty() && answer_reader_->feed(payload) && !first_token_ && !is_error) {
        first_token_ = now() - body_read_at_;
        first_byte_ = FirstByte::WithEnd;
        if (!is_answer_done_ || ticket_->ask().streams) {
            tell_first_byte();
        }
    }
}

void Exchange::tell_first_byte() {
    if (std::exchange(first_byte_, FirstByte::Apart) == FirstByte::WithEnd) {
        context_.services.desk.first_byte(*ticket_);
    }
}

/// One gathering write; false when the client does not take it all now.
bool Exchange::flush_now() {
    if (to_client_.empty()) {
        return true;
    }
    const net::IoResult written = client_->stream.write_some(to_client_);
    bytes_out_ += written.bytes;
    if (written.status == net::IoStatus::Failed) {
        fail(ErrorKind::ClientGone);
        return true;
    }
    if (!to_client_.empty()) {
        return false;
    }
    to_client_.clear();
    stalled_ = net::Buffer();
    return true;
}

/// Before a suspension: the scratch space is everybody's.
void Exchange::keep_to_client() {
    net::Buffer kept = context_.worker.buffers().take(to_client_.left());
    std::size_t size = 0;
    for (const iovec& piece : to_client_.vectors()) {
        std::memcpy(kept.data() + size, piece.iov_base, piece.iov_len);
        size += piece.iov_len;
    }
    stalled_ = std::move(kept);
    to_client_.clear();
    to_client_.add(std::string_view(stalled_.data(), size));
}

/// Waits for a slow client with a copy of what it has not taken; meanwhile the backend is not
/// read, so that flow control reaches it. The backend has no part in that time.
net::Task<void> Exchange::flush() {
    tell_first_byte();
    keep_to_client();
    while (!failure_ && !flush_now()) {
        client_->arm(context_.config().timeouts.idle, ErrorKind::ClientStalled);
        client_->stream.watch_write();
        const net::Events events = co_await client_->parker.park(kClientWritable | kInterrupts);
        if (is_interrupted(events)) {
            break;
        }
    }
    to_client_.clear();
}

}  // namespace prefix_router::proxy
