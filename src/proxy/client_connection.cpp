#include "proxy/client_connection.hpp"

#include <atomic>
#include <cstdint>
#include <utility>

#include <prometheus/counter.h>

#include "proxy/exchange.hpp"
#include "proxy/worker_context.hpp"

namespace prefix_router::proxy {
namespace {

using std::chrono::milliseconds;

// Most requests are a few kilobytes; larger bodies are read straight into their own buffer.
constexpr std::size_t kFirstRead = std::size_t{16} << 10;
// How long, and for how much, a closing connection listens so that its last answer is seen.
constexpr milliseconds kLingerTime{2000};
constexpr std::size_t kLingerBytes = std::size_t{16} << 20;
// A request may be on its way to a connection that is to be closed, above all to a new one.
constexpr milliseconds kLastRequestTime{1000};

/// Counts down at the end, whatever that is.
class Counted {
  public:
    explicit Counted(std::atomic<std::uint32_t>& count) : count_(count) {}
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    ~Counted() { count_.fetch_sub(1, std::memory_order_relaxed); }

  private:
    std::atomic<std::uint32_t>& count_;
};

/// Leaves the addresses at the end, whatever that is.
class Guest {
  public:
    Guest(ClientAddresses& addresses, const net::Endpoint& peer)
        : addresses_(addresses), peer_(peer) {}
    Guest(const Guest&) = delete;
    Guest& operator=(const Guest&) = delete;
    ~Guest() { addresses_.leave(peer_); }

  private:
    ClientAddresses& addresses_;
    const net::Endpoint& peer_;
};

}  // namespace

net::Task<void> ClientConnection::serve(WorkerContext& context, net::Stream stream,
                                        net::Endpoint peer) {
    ClientAddresses& addresses = context.services.addresses;
    const Counted counted(context.services.connections.open);
    ClientConnection connection(context, std::move(stream), peer);
    if (!addresses.enter(peer)) {
        context.services.metrics.connections_over_share.Increment();
        connection.stream.reset();
        co_return;
    }
    const Guest guest(addresses, peer);
    co_await connection.run();
}

ClientConnection::ClientConnection(WorkerContext& context, net::Stream stream_,
                                   const net::Endpoint& peer_)
    : stream(std::move(stream_)),
      peer(peer_.host()),
      head_parser(http::HeadLimits{.bytes = context.config().limits.header_bytes}),
      context_(context) {
    stream.listen(this);
    context_.worker.ticks().add(*this);
    context_.connection_opened(*this);
}

ClientConnection::~ClientConnection() {
    context_.connection_closed(*this);
}

net::Task<void> ClientConnection::run() {
    if (context_.settings->tls && !co_await secure()) {
        co_return;
    }
    while (true) {
        if (received.empty() && stream.is_drained()) {
            const milliseconds patience = context_.config().timeouts.client_idle;
            const auto events = co_await wait_for_bytes(patience, ErrorKind::RequestHeaderTimeout);
            if ((events & kClientReadable) == 0) {
                break;
            }
        }
        const auto input = first_bytes();
        if (!input) {
            break;
        }
        if (input->empty()) {
            continue;
        }
        auto exchange = context_.take_exchange();
        const Ending ending = co_await exchange->run(*this, *input);
        context_.give_back(std::move(exchange));
        disarm();
        if (ending == Ending::Reset) {
            stream.reset();
            break;
        }
        if (ending == Ending::Linger) {
            co_await linger();
        } else if (ending == Ending::Close && stream.is_secured()) {
            co_await end_sending();
        }
        if (ending != Ending::KeepAlive) {
            break;
        }
        if (received.empty()) {
            std::string().swap(received);  // idle connections hold no buffers
        }
    }
}

/// For what begins a request or a handshake; when the router drains, only for what may be on its
/// way already. Without kClientReadable there is nothing to wait for any more.
net::Task<net::Events> ClientConnection::wait_for_bytes(milliseconds patience, ErrorKind missed) {
    arm(patience, missed);
    stream.watch_read();
    net::Events events = co_await parker.park(kClientReadable | kDraining | kInterrupts);
    if ((events & kDraining) != 0 && (events & (kClientReadable | kInterrupts)) == 0) {
        arm(kLastRequestTime, missed);
        events = co_await parker.park(kClientReadable | kInterrupts);
    }
    co_return events;
}

/// The bytes that begin a request; empty when there are none yet, nullopt at the end.
std::optional<std::string_view> ClientConnection::first_bytes() {
    if (!received.empty()) {
        return std::string_view(received);
    }
    const auto room = context_.worker.scratch().first(kFirstRead);
    const net::IoResult got = stream.read_some(room);
    if (got.status == net::IoStatus::WouldBlock) {
        return std::string_view();
    }
    if (got.status != net::IoStatus::Done) {
        return std::nullopt;
    }
    return std::string_view(room.data(), got.bytes);
}

/// With TLS the end is a message of its own, without which a client may take its answer for cut.
net::Task<void> ClientConnection::end_sending() {
    arm(context_.config().timeouts.idle, ErrorKind::ClientStalled);
    while (stream.shutdown_send() == net::IoStatus::WouldBlock) {
        stream.watch_write();
        const net::Events events = co_await parker.park(kClientWritable | kInterrupts);
        if ((events & kInterrupts) != 0) {
            break;
        }
    }
}

net::Task<void> ClientConnection::linger() {
    if (stream.shutdown_send() == net::IoStatus::WouldBlock) {
        co_await end_sending();
    }
    received.clear();
    arm(kLingerTime, ErrorKind::RequestHeaderTimeout);
    unsigned reads = 0;
    for (std::size_t seen = 0; seen < kLingerBytes;) {
        const net::IoResult got = stream.read_some(context_.worker.scratch());
        seen += got.bytes;
        if (got.status == net::IoStatus::Done && ++reads % kReadsInARow != 0) {
            continue;
        }
        if (got.status == net::IoStatus::Ended || got.status == net::IoStatus::Failed) {
            break;
        }
        stream.watch_read();
        const net::Events events = co_await parker.park(kClientReadable | kInterrupts);
        if ((events & kInterrupts) != 0) {
            break;
        }
    }
}

void ClientConnection::arm(milliseconds timeout, ErrorKind missed) {
    parker.clear(kExpired);
    deadline_.arm(context_.worker.ticks().now(), timeout, missed);
}

void ClientConnection::arm_total(milliseconds timeout) {
    total_.arm(context_.worker.ticks().now(), timeout, ErrorKind::TotalTimeout);
}

void ClientConnection::disarm_phase() {
    deadline_.disarm();
    parker.clear(kExpired);
}

void ClientConnection::disarm() {
    deadline_.disarm();
    total_.disarm();
    wants_tick_ = false;
    parker.clear(kExpired | kTicked);
}

void ClientConnection::begin_watch() {
    is_watching_ = true;
    has_pipelined_ = !received.empty();
    watching_since_ = context_.worker.ticks().now();
}

void ClientConnection::end_watch() {
    is_watching_ = false;
}

void ClientConnection::keep(std::string_view rest) {
    const bool is_tail = rest.data() >= received.data() &&
                         rest.data() <= received.data() + received.size() && !received.empty();
    if (is_tail) {
        received.erase(0, received.size() - rest.size());
    } else {
        received.assign(rest);
    }
}

void ClientConnection::on_readable() {
    if (!is_watching_) {
        parker.signal(kClientReadable);
    } else if (stream.has_peer_left()) {
        parker.signal(kClientGone);
    } else {
        has_pipelined_ = true;
    }
}

void ClientConnection::on_tick(net::Tick now) {
    net::Events events = 0;
    for (net::Deadline* deadline : {&deadline_, &total_}) {
        if (deadline->is_due(now)) {
            deadline->disarm();
            missed_ = deadline->missed();
            events |= kExpired;
        }
    }
    if (std::exchange(wants_tick_, false)) {
        events |= kTicked;
    }
    if (is_watching_ && now != watching_since_) {
        if (!has_pipelined_) {
            stream.watch_read();
        } else if (stream.has_peer_left()) {
            events |= kClientGone;
        }
    }
    if (events != 0) {
        parker.signal(events);  // may end this connection: nothing after it
    }
}

}  // namespace prefix_router::proxy
