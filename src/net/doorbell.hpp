#pragma once

#include <atomic>

#include "prefix_router/net/descriptor.hpp"

#include "net/socket_set.hpp"

namespace prefix_router::net {

/// Ends a worker's wait from another thread.
class Doorbell {
  public:
    /// Throws std::system_error when the process has no descriptor left.
    explicit Doorbell(SocketSet& sockets);
    Doorbell(const Doorbell&) = delete;
    Doorbell& operator=(const Doorbell&) = delete;
    ~Doorbell();

    /// From any thread, after what it rings for has been put where answer()'s caller looks.
    void ring();
    /// Whether it rang since the last call; the worker looks after it.
    bool answer() { return has_rung_.load(std::memory_order_relaxed) && has_rung_.exchange(false); }

  private:
    class Ear;

    Descriptor event_;
    Ear* ear_;
    std::atomic<bool> has_rung_{false};
};

}  // namespace prefix_router::net
