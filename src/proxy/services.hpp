#pragma once

#include <algorithm>
#include <atomic>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/base/snapshot.hpp"
#include "prefix_router/config/config.hpp"
#include "prefix_router/net/buffer_pool.hpp"
#include "prefix_router/net/listener.hpp"
#include "prefix_router/net/tls.hpp"
#include "prefix_router/proxy/access_log.hpp"
#include "prefix_router/proxy/metrics.hpp"
#include "prefix_router/proxy/routing_desk.hpp"
#include "prefix_router/proxy/server.hpp"

#include "proxy/api_keys.hpp"
#include "proxy/client_addresses.hpp"
#include "proxy/retry_policy.hpp"

namespace prefix_router::proxy {

/// `threads`, or one per core.
std::size_t thread_count(const config::Config& config);

/// What each worker keeps of buffers that hold no body now: all together at most as much as bodies
/// may take.
std::size_t kept_buffers(const config::Config& config);

/// What all workers of a server share. Owned by the server; outlives the workers.
struct Services {
    Services(config::Config config_, const Server::Surroundings& around)
        : config(std::move(config_)),
          desk(around.desk),
          metrics(around.metrics),
          access_log(around.access_log),
          trace(around.trace),
          clock(around.clock),
          speed_up(around.speed_up),
          // Where a body may be as large as all together, half of it is kept back and exceeded.
          memory(config.limits.buffered_bytes,
                 std::min(config.limits.body_bytes, config.limits.buffered_bytes / 2)),
          connections{connection_limit(config), {}},
          retry_budget(config.retry.budget),
          api_keys(config, metrics),
          addresses(config.limits.connections_per_address) {}

    /// Every client connection may need a descriptor for a backend too: clients get at most half of
    /// the descriptors that the process may have and does not use itself.
    static std::uint32_t connection_limit(const config::Config& config);

    const config::Config config;
    RoutingDesk& desk;
    Metrics& metrics;
    AccessLog& access_log;
    sim::TraceWriter* const trace;  ///< null: off
    const Clock& clock;
    const double speed_up;                      ///< of the clock
    SnapshotCell<net::TlsServer> tls{nullptr};  ///< null: plain HTTP
    net::MemoryBudget memory;
    net::ConnectionLimit connections;
    RetryBudget retry_budget;
    ApiKeys api_keys;
    ClientAddresses addresses;
    std::atomic<std::uint64_t> next_request{1};
    std::atomic<bool> is_draining{false};
};

}  // namespace prefix_router::proxy
