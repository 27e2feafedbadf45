#pragma once

#include <memory>
#include <vector>

#include "prefix_router/config/config.hpp"
#include "prefix_router/net/parker.hpp"
#include "prefix_router/net/stream.hpp"
#include "prefix_router/net/ticker.hpp"
#include "prefix_router/proxy/routing_desk.hpp"

namespace prefix_router::proxy {

/// One connection to a backend, used by one exchange at a time. Tells that exchange's parker of
/// readiness while it is lent, nobody while it idles.
class BackendConnection final : public net::StreamListener {
  public:
    BackendConnection(net::Stream connected, BackendRef backend);
    BackendConnection(const BackendConnection&) = delete;
    BackendConnection& operator=(const BackendConnection&) = delete;
    ~BackendConnection() = default;

    net::Stream stream;
    const BackendRef backend;
    bool was_pooled = false;   ///< carried a request before this one
    net::Tick idle_since = 0;  ///< while pooled
    /// Of the backend's address, when this connection was made.
    std::uint32_t address_generation = 0;

    void lend_to(net::Parker* parker) { parker_ = parker; }
    void on_readable() override;
    void on_writable() override;

  private:
    net::Parker* parker_ = nullptr;
};

/// The idle backend connections of one worker, by backend; the last returned is the first reused.
/// They idle at most timeouts.backend_idle, below the five seconds after which the engines close
/// theirs; those to backends that leave go with the next tick. Not thread-safe.
class BackendConnections final : public net::Ticked {
  public:
    explicit BackendConnections(std::chrono::milliseconds idle_limit) : idle_limit_(idle_limit) {}

    void set_idle_limit(std::chrono::milliseconds limit) { idle_limit_ = limit; }

    /// A connection on which nothing, not even an end, is waiting; nullptr when there is none.
    std::unique_ptr<BackendConnection> take(const BackendRef& backend);
    void put(std::unique_ptr<BackendConnection> connection, net::Tick now);
    /// Closes all, for their descriptors; false when there were none.
    bool close_idle();
    void on_tick(net::Tick now) override;

  private:
    static constexpr std::size_t kKeptPerBackend = 1024;
    std::chrono::milliseconds idle_limit_;
    std::vector<std::vector<std::unique_ptr<BackendConnection>>> idle_;  // by slot, oldest first
};

}  // namespace prefix_router::proxy
