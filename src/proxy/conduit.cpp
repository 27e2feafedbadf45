#include "proxy/conduit.hpp"

#include <cstring>
#include <utility>

#include "proxy/events.hpp"

namespace prefix_router::proxy {

void Conduit::push(std::string_view bytes) {
    left_.add(bytes);
    keep_rest();
}

void Conduit::pump() {
    for (unsigned round = 0; round < kReadsInARow && state_ == State::Open; ++round) {
        if (!flush()) {
            return;
        }
        if (!read()) {
            break;
        }
    }
    if (state_ == State::Open && flush()) {
        from_.watch_read();
    }
}

/// False when the receiver does not take all now, or never will.
bool Conduit::flush() {
    if (left_.empty()) {
        return true;
    }
    const net::IoResult sent = to_.write_some(left_);
    moved_ += sent.bytes;
    if (sent.status == net::IoStatus::Failed) {
        state_ = State::ReceiverLost;
        return false;
    }
    if (!left_.empty()) {
        keep_rest();
        to_.watch_write();
        return false;
    }
    left_.clear();
    kept_ = net::Buffer();
    return true;
}

/// The scratch space is everybody's after this call.
void Conduit::keep_rest() {
    const std::size_t size = left_.left();
    if (size == 0 || kept_.capacity() > 0) {
        return;
    }
    kept_ = worker_.buffers().take(size);
    std::size_t at = 0;
    for (const iovec& piece : left_.vectors()) {
        std::memcpy(kept_.data() + at, piece.iov_base, piece.iov_len);
        at += piece.iov_len;
    }
    left_.clear();
    left_.add(std::string_view(kept_.data(), size));
}

/// False when nothing came.
bool Conduit::read() {
    const auto room = worker_.scratch();
    const net::IoResult got = from_.read_some(room);
    switch (got.status) {
        case net::IoStatus::Done:
            left_.add(std::string_view(room.data(), got.bytes));
            return true;
        case net::IoStatus::WouldBlock:
            return false;
        case net::IoStatus::Ended:
            state_ = State::Ended;
            return false;
        case net::IoStatus::Failed:
            state_ = State::SenderLost;
            return false;
    }
    return false;
}

}  // namespace prefix_router::proxy
