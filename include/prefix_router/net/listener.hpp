#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "prefix_router/base/error.hpp"
#include "prefix_router/config/config.hpp"
#include "prefix_router/net/endpoint.hpp"
#include "prefix_router/net/stream.hpp"
#include "prefix_router/net/ticker.hpp"
#include "prefix_router/net/worker.hpp"

namespace prefix_router::net {

/// Reserves `address` for this process: binds it once without SO_REUSEPORT, so that a port in use
/// is an error and not half of the traffic, and returns the endpoint (with the port chosen for 0).
/// Names are resolved; the first address counts. Error: Io, with a sentence for the operator.
Result<Endpoint> claim_address(const config::ListenAddress& address);

/// Connections open now over all workers, and how many may be (limits.connections).
struct ConnectionLimit {
    std::uint32_t limit = 0;
    std::atomic<std::uint32_t> open{0};
};

/// Accepts connections for one worker; every worker has its own socket on the same address
/// (SO_REUSEPORT). TCP_NODELAY is inherited from the listening socket. Out of descriptors or at
/// the connection limit it pauses until the next tick: clients wait in the backlog and nothing
/// spins.
class Listener final : public StreamListener, public Ticked {
  public:
    /// `accepted` gets each connection, already counted in `limit`; it counts it down at the end.
    using Accepted = std::function<void(Stream stream, const Endpoint& peer)>;

    /// Error: Io.
    static Result<std::unique_ptr<Listener>> open(Worker& worker, const Endpoint& endpoint,
                                                  ConnectionLimit& limit, Accepted accepted);

    void on_readable() override;
    void on_writable() override {}
    void on_tick(Tick now) override;

  private:
    Listener(Worker& worker, int descriptor, ConnectionLimit& limit, Accepted accepted);
    bool accept_one();

    Worker& worker_;
    Stream socket_;
    ConnectionLimit& limit_;
    Accepted accepted_;
    bool is_paused_ = false;
};

}  // namespace prefix_router::net
