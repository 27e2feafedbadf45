#pragma once

#include <cstdint>
#include <string_view>

#include "prefix_router/net/buffer_pool.hpp"
#include "prefix_router/net/stream.hpp"
#include "prefix_router/net/worker.hpp"

namespace prefix_router::proxy {

/// One direction of a tunnel: passes bytes on as they come. What the receiver does not take at once
/// is kept, at most one read of it, and nothing more is read until it has gone: flow control
/// reaches the sender. Borrows both streams; used on their worker's thread.
class Conduit {
  public:
    enum class State : std::uint8_t {
        Open,
        Ended,         ///< the sender ended, and all it sent has been passed on
        SenderLost,    ///< its connection broke
        ReceiverLost,  ///< its connection broke
    };

    Conduit(net::Worker& worker, net::Stream& from, net::Stream& to)
        : worker_(worker), from_(from), to_(to) {}

    /// Bytes of the sender's that were read before; call first.
    void push(std::string_view bytes);
    /// Moves what can be moved now, and watches for when more can be.
    void pump();

    State state() const { return state_; }
    std::uint64_t moved() const { return moved_; }

  private:
    bool flush();
    void keep_rest();
    bool read();

    net::Worker& worker_;
    net::Stream& from_;
    net::Stream& to_;
    net::Pieces left_;
    net::Buffer kept_;
    State state_ = State::Open;
    std::uint64_t moved_ = 0;
};

}  // namespace prefix_router::proxy
