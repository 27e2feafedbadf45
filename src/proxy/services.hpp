#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/base/snapshot.hpp"
#include "prefix_router/config/config.hpp"
#include "prefix_router/net/buffer_pool.hpp"
#include "prefix_router/net/listener.hpp"
#include "prefix_router/proxy/access_log.hpp"
#include "prefix_router/proxy/metrics.hpp"
#include "prefix_router/proxy/routing_desk.hpp"
#include "prefix_router/proxy/server.hpp"

#include "proxy/api_keys.hpp"
#include "proxy/client_addresses.hpp"
#include "proxy/retry_policy.hpp"
#include "proxy/settings.hpp"

namespace prefix_router::proxy {

/// `threads`, or one per core.
std::size_t thread_count(const config::Config& config);

/// What each worker keeps of buffers that hold no body now: all together at most as much as bodies
/// may take.
std::size_t kept_buffers(const config::Config& config);

/// What all workers of a server share. Owned by the server; outlives the workers.
struct Services {
    Services(const config::Config& config, const Server::Surroundings& around)
        : settings(std::make_shared<const Settings>(
              Settings{config, ApiKeys(config, around.metrics), nullptr})),
          desk(around.desk),
          metrics(around.metrics),
          access_log(around.access_log),
          trace(around.trace),
          clock(around.clock),
          speed_up(around.speed_up),
          tracer(around.tracer),
          memory(config.limits.buffered_bytes, kept_back(config)),
          connections{connection_limit(config), {}},
          retry_budget(config.retry.budget),
          addresses(config.limits.connections_per_address) {}

    /// Every client connection may need a descriptor for a backend too: clients get at most half of
    /// the descriptors that the process may have and does not use itself.
    static std::uint32_t connection_limit(const config::Config& config);
    /// Of the memory of all bodies, for one of the largest size. Where a body may be as large as
    /// all together, half of it is kept back and exceeded.
    static std::size_t kept_back(const config::Config& config) {
        return std::min(config.limits.body_bytes, config.limits.buffered_bytes / 2);
    }
    /// Brings the limits and the budget of other settings into force, and shows them to who asks.
    void take(std::shared_ptr<const Settings> next);

    /// What is in force; workers have their own reference.
    SnapshotCell<Settings> settings;
    RoutingDesk& desk;
    Metrics& metrics;
    AccessLog& access_log;
    sim::TraceWriter* const trace;  ///< null: off
    const Clock& clock;
    const double speed_up;          ///< of the clock
    tracing::Tracer* const tracer;  ///< null: off
    net::MemoryBudget memory;
    net::ConnectionLimit connections;
    RetryBudget retry_budget;
    ClientAddresses addresses;
    std::atomic<std::uint64_t> next_request{1};
    std::atomic<bool> is_draining{false};
};

}  // namespace prefix_router::proxy
