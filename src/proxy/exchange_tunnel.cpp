// After 101: WebSocket's bytes both ways, each as it comes, until one side has ended.
#include "proxy/conduit.hpp"
#include "proxy/events.hpp"
#include "proxy/exchange.hpp"
#include "proxy/worker_context.hpp"

namespace prefix_router::proxy {

/// Counts as load until it ends. Silence on both sides ends it, and so does a drain: a session has
/// no end of its own to wait for.
net::Task<void> Exchange::tunnel() {
    client_->end_watch();
    if (!flush_now()) {
        co_await flush();
    }
    Conduit up(context_.worker, client_->stream, connection_->stream);
    Conduit down(context_.worker, connection_->stream, client_->stream);
    up.push(client_->received);
    client_->received.clear();
    net::Events events = kClientReadable | kBackendReadable;
    while (!failure_) {
        if ((events & (kClientReadable | kBackendWritable)) != 0) {
            up.pump();
        }
        if ((events & (kBackendReadable | kClientWritable)) != 0) {
            down.pump();
        }
        if (up.state() != Conduit::State::Open || down.state() != Conduit::State::Open) {
            break;
        }
        client_->arm(context_.config().timeouts.idle, ErrorKind::IdleTimeout);
        events = co_await client_->parker.park(kTunnelEvents | kInterrupts);
        if ((events & (kExpired | kDraining)) != 0 || is_interrupted(events)) {
            break;
        }
    }
    bytes_in_ += up.moved();
    bytes_out_ += down.moved();
    end_tunnel(up.state(), down.state());
}

void Exchange::end_tunnel(Conduit::State up, Conduit::State down) {
    if (up == Conduit::State::SenderLost || down == Conduit::State::ReceiverLost) {
        fail(ErrorKind::ClientGone);
    } else if (up == Conduit::State::ReceiverLost || down == Conduit::State::SenderLost) {
        fail(ErrorKind::ResetMidResponse);
    }
    is_answer_done_ = !failure_;
}

}  // namespace prefix_router::proxy
