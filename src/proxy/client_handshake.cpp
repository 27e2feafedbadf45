// TLS with a client, before its first request.
#include <memory>
#include <utility>

#include <prometheus/counter.h>
#include <spdlog/spdlog.h>

#include "prefix_router/http/error_answer.hpp"
#include "prefix_router/net/tls.hpp"

#include "proxy/client_connection.hpp"
#include "proxy/events.hpp"
#include "proxy/worker_context.hpp"

namespace prefix_router::proxy {
namespace {

/// A TLS handshake begins with 0x16, a request with its method.
bool begins_request(char first) {
    return (first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z');
}

}  // namespace

/// A client that sends nothing costs no TLS state. False: there is no TLS, and nothing to serve.
net::Task<bool> ClientConnection::secure() {
    const std::shared_ptr<const net::TlsServer> tls = context_.settings->tls;
    const auto patience = context_.config().timeouts.tls_handshake;
    net::Events events = co_await wait_for_bytes(patience, ErrorKind::TlsTimeout);
    if ((events & kClientReadable) == 0) {
        if ((events & kExpired) != 0 && !parker.has(kDraining)) {
            tell_handshake_failure(Error(ErrorKind::TlsTimeout));
        }
        co_return false;
    }
    const auto first = stream.peek();
    if (!first && stream.has_peer_left()) {
        co_return false;  // a port scan, or a load balancer that looks whether somebody listens
    }
    if (first && begins_request(*first)) {
        const Error error(ErrorKind::TlsFailed, "This port speaks TLS. Use https://.");
        tell_handshake_failure(error);
        co_await refuse_plain(error);
        co_return false;
    }
    arm(patience, ErrorKind::TlsTimeout);
    stream.secure(tls);
    net::IoStatus status = stream.handshake();
    while (status == net::IoStatus::WouldBlock) {
        stream.watch_read();
        events = co_await parker.park(kClientReadable | kInterrupts);
        if ((events & kExpired) != 0) {
            tell_handshake_failure(Error(ErrorKind::TlsTimeout));
        }
        if ((events & kInterrupts) != 0) {
            co_return false;
        }
        status = stream.handshake();
    }
    disarm();
    if (status != net::IoStatus::Done) {
        tell_handshake_failure(stream.handshake_failure());
        co_return false;
    }
    Metrics& metrics = context_.services.metrics;
    (stream.is_resumed() ? metrics.handshakes_resumed : metrics.handshakes_new).Increment();
    co_return true;
}

net::Task<void> ClientConnection::refuse_plain(const Error& error) {
    const std::string answer = http::error_answer(error, http::ErrorAnswerOptions());
    net::Pieces pieces;
    pieces.add(answer);
    if (stream.write_some(pieces).status == net::IoStatus::Done) {
        co_await linger();
    }
}

/// One line per tick and thread: a flood of them must not flood the log.
void ClientConnection::tell_handshake_failure(const Error& error) {
    context_.services.metrics.errors(error.kind()).Increment();
    if (context_.may_complain()) {
        spdlog::warn("no TLS with client {}: {}", peer,
                     error.message().empty() ? to_string(error.kind()) : error.message());
    }
}

}  // namespace prefix_router::proxy
