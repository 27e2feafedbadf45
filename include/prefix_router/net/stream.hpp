#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "prefix_router/base/error.hpp"

namespace prefix_router::net {

class TlsClient;
class TlsServer;
class TlsSession;
class Worker;

enum class IoStatus : unsigned char { Done, WouldBlock, Ended, Failed };

/// Done: `bytes` > 0 were moved. Ended: the peer closed its sending half. Failed: the connection
/// is broken.
struct IoResult {
    IoStatus status = IoStatus::Failed;
    std::size_t bytes = 0;
};

/// Up to eight pieces of memory written by one gathering call, and how much of them is left.
class Pieces {
  public:
    void add(std::string_view piece);
    void consume(std::size_t bytes);
    bool empty() const { return left_ == 0; }
    std::size_t left() const { return left_; }
    std::span<const iovec> vectors() const { return {vectors_.data() + first_, count_ - first_}; }
    void clear() { *this = Pieces(); }

  private:
    std::array<iovec, 8> vectors_{};
    std::size_t first_ = 0;
    std::size_t count_ = 0;
    std::size_t left_ = 0;
};

/// Who is told when a watched stream is ready. May destroy the stream from inside the call.
class StreamListener {
  public:
    virtual void on_readable() = 0;
    virtual void on_writable() = 0;

  protected:
    ~StreamListener() = default;
};

/// One stream socket (TCP or Unix) of a worker: calls that never block, and readiness on request.
/// The first watch registers it; from then on the worker knows of each change without a call.
/// Closes when it goes. Not thread-safe.
///
/// With TLS (secure(), then handshake() until it is Done) the same calls move the same bytes; a
/// peer that ends without saying so in TLS has Failed, not Ended, and a stream that closes says so.
class Stream {
  public:
    Stream();
    /// Takes over a non-blocking descriptor.
    Stream(Worker& worker, int descriptor);
    Stream(Stream&&) noexcept;
    Stream& operator=(Stream&&) noexcept;
    ~Stream();

    bool is_open() const { return state_ != nullptr; }
    int descriptor() const;

    /// Whom to tell; nullptr for nobody. The listener outlives the stream or is replaced.
    void listen(StreamListener* listener);
    /// The listener is told once when the stream can be read (data, end or error) / written.
    /// Setting a watch that is set does nothing.
    void watch_read();
    void watch_write();

    IoResult read_some(std::span<char> room);
    /// One gathering write; takes what was written off `pieces`.
    IoResult write_some(Pieces& pieces);

    /// The next connection of a listening socket, non-blocking, or -1 with errno.
    int accept(sockaddr_storage& peer, socklen_t& size);

    /// As far as is known, a read would be in vain.
    bool is_drained() const;
    /// The peer closed the connection or its sending half, or the connection broke, even behind
    /// unread bytes: as of this turn of the worker.
    bool has_peer_left() const;
    /// Neither bytes nor an end are waiting to be read: a pooled connection may be used. Asks the
    /// socket: what the worker was told may be a turn old.
    bool is_quiet() const;
    /// The first byte that waits to be read, if any; never with TLS.
    std::optional<char> peek() const;

    /// From here on bytes are encrypted: as the side that was called, or the one that calls.
    void secure(std::shared_ptr<const TlsServer> server);
    void secure(std::shared_ptr<TlsClient> client);
    /// WouldBlock: go on when the listener is told that the stream is readable, after watch_read().
    IoStatus handshake();
    /// Why the handshake failed.
    const Error& handshake_failure() const;
    bool is_secured() const;
    bool is_resumed() const;

    /// After a non-blocking connect became writable: 0 or the errno of its failure.
    int connect_error() const;

    /// WouldBlock, with TLS only: call it again once the stream can be written.
    IoStatus shutdown_send();
    /// Closes with a reset, so that a peer cannot take the answer for complete.
    void reset();
    void close();
    /// Leaves the worker and gives the descriptor to the caller. For a socket that others share:
    /// closing it would not end what the worker's epoll watches, since that watches the socket.
    int release();

  private:
    class State;
    struct StateReleaser {
        void operator()(State* state) const;
    };
    std::unique_ptr<State, StateReleaser> state_;
};

}  // namespace prefix_router::net
