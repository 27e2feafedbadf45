#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "prefix_router/base/error.hpp"
#include "prefix_router/config/config.hpp"
#include "prefix_router/net/descriptor.hpp"
#include "prefix_router/net/endpoint.hpp"
#include "prefix_router/net/stream.hpp"
#include "prefix_router/net/ticker.hpp"
#include "prefix_router/net/worker.hpp"

namespace prefix_router::net {

/// The address to listen on: of a name the first IPv4 address, or the first of all when it has
/// none. Error: Io, with a sentence for the operator.
Result<Endpoint> listen_endpoint(const config::ListenAddress& address);

/// `count` sockets that listen on `address` side by side (SO_REUSEPORT), all with the same port.
/// The address is bound once without SO_REUSEPORT first, so that a port in use is an error and not
/// half of the traffic. Error: Io, with a sentence for the operator.
Result<std::vector<Descriptor>> open_listening_sockets(const config::ListenAddress& address,
                                                       std::size_t count);

/// Where a socket is bound. Error: Io.
Result<Endpoint> bound_endpoint(const Descriptor& socket);

/// Connections open now over all workers, and how many may be (limits.connections).
struct ConnectionLimit {
    std::atomic<std::uint32_t> limit{0};
    std::atomic<std::uint32_t> open{0};
    /// Grows whenever the process had no descriptor for a connection.
    std::atomic<std::uint32_t> shortages{0};
};

/// Accepts connections for one worker from one listening socket. Others may accept from the same
/// socket, in this process and in another one: only who holds the last descriptor of it ends it,
/// and resets what is queued on it. Out of descriptors or at the connection limit it pauses until
/// the next tick: clients wait in the backlog and nothing spins.
class Listener final : public StreamListener, public Ticked {
  public:
    /// `accepted` gets each connection, already counted in `limit`; it counts it down at the end,
    /// unless it throws.
    using Accepted = std::function<void(Stream stream, const Endpoint& peer)>;

    Listener(Worker& worker, Descriptor socket, ConnectionLimit& limit, Accepted accepted);
    ~Listener() override;

    /// Accepts all that are queued now, before an end that would reset them.
    void accept_queued();

    void on_readable() override;
    void on_writable() override {}
    void on_tick(Tick now) override;

  private:
    bool accept_one();

    Worker& worker_;
    Stream socket_;
    ConnectionLimit& limit_;
    Accepted accepted_;
    bool is_paused_ = false;
};

}  // namespace prefix_router::net
