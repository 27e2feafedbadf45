// A new connection to the chosen backend.
#include <utility>

#include <prometheus/counter.h>

#include "prefix_router/net/connect.hpp"
#include "prefix_router/net/tls.hpp"

#include "proxy/events.hpp"
#include "proxy/exchange.hpp"
#include "proxy/worker_context.hpp"

namespace prefix_router::proxy {
namespace {

/// Dials of a request for which there is no descriptor; others close their idle connections at
/// their next tick.
constexpr int kMoreDials = 4;

bool is_out_of_descriptors(const net::Dial& dialled) {
    return !dialled.stream.is_open() &&
           net::connect_error_kind(dialled.error) == ErrorKind::OutOfDescriptors;
}

}  // namespace

/// Tries the backend's addresses in turn; the connect timeout is shared among them.
net::Task<void> Exchange::connect() {
    const std::uint32_t generation = placement_.backend->address.generation();
    const auto endpoints = placement_.backend->address.endpoints();
    if (endpoints->empty()) {
        placement_.backend->address.refresh();
        fail(ErrorKind::ConnectFailed, "the backend's name does not resolve");
        co_return;
    }
    const auto timeout = net::connect_share(context_.config().timeouts.connect, endpoints->size());
    for (const net::Endpoint& endpoint : *endpoints) {
        failure_.reset();
        co_await connect_to(endpoint, timeout);
        if (connection_) {
            connection_->address_generation = generation;
            co_return;
        }
        const ErrorKind kind = failure_->kind();
        const bool is_hopeless =
            kind == ErrorKind::TotalTimeout || kind == ErrorKind::OutOfDescriptors;
        if (is_our_own_end(kind) || is_hopeless) {
            co_return;
        }
    }
    placement_.backend->address.refresh();
}

/// Sets `connection_` or `failure_`.
net::Task<void> Exchange::connect_to(const net::Endpoint& endpoint,
                                     std::chrono::milliseconds timeout) {
    net::Dial dialled = co_await dial(endpoint);
    if (failure_) {
        co_return;
    }
    if (!dialled.stream.is_open()) {
        fail(net::connect_error_kind(dialled.error));
        co_return;
    }
    auto connection =
        std::make_unique<BackendConnection>(std::move(dialled.stream), placement_.backend);
    if (!dialled.is_connected) {
        client_->parker.clear(kBackendWritable);
        connection->lend_to(&client_->parker);
        connection->stream.watch_write();
        client_->arm(timeout, ErrorKind::ConnectTimeout);
        const net::Events events = co_await client_->parker.park(kBackendWritable | kInterrupts);
        if (is_interrupted(events)) {
            co_return;
        }
        if (const int error = connection->stream.connect_error(); error != 0) {
            fail(net::connect_error_kind(error));
            co_return;
        }
    }
    if (placement_.backend->access.tls) {
        co_await handshake(*connection);
        if (failure_) {
            co_return;
        }
    }
    connection_ = std::move(connection);
}

/// Idle connections are worth less than a new one: this worker's, then those of the others, for
/// which it waits a tick or a few. Sets `failure_` when that wait is interrupted.
net::Task<net::Dial> Exchange::dial(const net::Endpoint& endpoint) {
    context_.services.metrics.connects.Increment();
    net::Dial dialled = net::dial(context_.worker, endpoint);
    for (int more = 0; is_out_of_descriptors(dialled) && more < kMoreDials; ++more) {
        if (!context_.connections.close_idle()) {
            context_.services.connections.shortages.fetch_add(1, std::memory_order_relaxed);
            client_->disarm_phase();
            client_->wake_on_tick();
            const net::Events events = co_await client_->parker.park(kTicked | kInterrupts);
            if (is_interrupted(events)) {
                break;
            }
        }
        dialled = net::dial(context_.worker, endpoint);
    }
    co_return dialled;
}

/// Sets `failure_` when there is no TLS; why is for the operator, not for the client.
net::Task<void> Exchange::handshake(BackendConnection& connection) {
    net::Stream& stream = connection.stream;
    stream.secure(placement_.backend->access.tls);
    connection.lend_to(&client_->parker);
    client_->arm(context_.config().timeouts.tls_handshake, ErrorKind::BackendTlsTimeout);
    net::IoStatus status = stream.handshake();
    while (status == net::IoStatus::WouldBlock) {
        stream.watch_read();
        const net::Events events = co_await client_->parker.park(kBackendReadable | kInterrupts);
        if (is_interrupted(events)) {
            if (failure_->kind() == ErrorKind::BackendTlsTimeout) {
                placement_.backend->tell_trouble(*failure_);
            }
            co_return;
        }
        status = stream.handshake();
    }
    if (status == net::IoStatus::Failed) {
        fail(stream.handshake_failure().kind());
        placement_.backend->tell_trouble(stream.handshake_failure());
    }
}

}  // namespace prefix_router::proxy
