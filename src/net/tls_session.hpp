#pragma once

#include <memory>
#include <span>
#include <string_view>

#include <openssl/ssl.h>

#include "prefix_router/base/error.hpp"
#include "prefix_router/net/stream.hpp"
#include "prefix_router/net/tls.hpp"

namespace prefix_router::net {

/// One TLS connection over a non-blocking socket, in the terms of Stream. The stream owns it and
/// closes the socket after it.
///
/// A record is written from the first 16 KiB of what there is, head and body together, so that a
/// repeated write (OpenSSL wants the same bytes again) repeats it even if the pieces were moved.
class TlsSession {
  public:
    TlsSession(std::shared_ptr<const TlsServer> server, int descriptor);
    TlsSession(std::shared_ptr<TlsClient> client, int descriptor);

    IoStatus handshake();
    IoResult read(std::span<char> room);
    IoResult write(Pieces& pieces);
    /// Tells the peer that nothing more is sent. WouldBlock: the socket is full.
    IoStatus end_sending();
    /// The peer said that it sends nothing more, or broke the connection.
    bool has_peer_ended();
    bool is_quiet();

    /// Bytes, or an end, are here that the socket will not tell of again.
    bool has_pending() const { return has_pending_; }
    /// What a read, or a write, waits for is the other direction of the socket.
    bool read_waits_for_write() const { return read_waits_for_write_; }
    bool write_waits_for_read() const { return write_waits_for_read_; }
    bool is_resumed() const { return SSL_session_reused(ssl_.get()) == 1; }
    /// After a handshake that failed.
    const Error& failure() const { return failure_; }

  private:
    struct Releaser {
        void operator()(SSL* ssl) const { SSL_free(ssl); }
    };

    IoStatus status_after(int result);
    IoResult peek();
    Error describe_failure() const;

    std::shared_ptr<const void> context_;  // outlives the session
    std::unique_ptr<SSL, Releaser> ssl_;
    Error failure_;
    bool is_client_ = false;
    bool is_broken_ = false;
    bool has_ended_sending_ = false;
    bool has_pending_ = false;
    bool read_waits_for_write_ = false;
    bool write_waits_for_read_ = false;
};

}  // namespace prefix_router::net
