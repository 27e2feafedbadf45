#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "prefix_router/base/error.hpp"

#include "engine_sim/service.hpp"

namespace prefix_router::engine_sim {

/// A listening port and the simulated engine behind it. Single-threaded; after stop() the
/// io_context runs out of work, and then the server may be destroyed.
class Server {
  public:
    Server(net::io_context& io, const Options& options);

    /// Binds and begins to accept; returns the port that was bound.
    Result<std::uint16_t> listen(std::uint16_t port);
    void stop();

  private:
    Awaitable<void> accept_clients();
    Awaitable<void> serve(Socket socket);

    net::io_context& io_;
    const Options& options_;
    Service service_;
    Acceptor acceptor_;
    std::set<ClientConnection*> clients_;
};

}  // namespace prefix_router::engine_sim
