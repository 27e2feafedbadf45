#pragma once

#include <functional>
#include <vector>

#include "prefix_router/admin/levers.hpp"
#include "prefix_router/admin/server.hpp"
#include "prefix_router/config/config.hpp"
#include "prefix_router/metrics/metrics.hpp"
#include "prefix_router/proxy/roster.hpp"
#include "prefix_router/proxy/routing_desk.hpp"
#include "prefix_router/proxy/server.hpp"

namespace prefix_router::admin {

/// What the endpoints show and change. All outlive the admin server.
struct Sources {
    Levers& levers;
    metrics::Registry& registry;
    proxy::Metrics& metrics;
    proxy::RoutingDesk& desk;
    proxy::Roster& roster;
    const proxy::Server& server;
    const Clock& clock;
};

/// What is shown (/metrics, /healthz, /readyz, /backends, /decisions, /config, the dashboard at /),
/// what can be asked (/explain), what can be changed (changes.hpp), and /openapi.json, which
/// describes them all. No prompt and no credential appears in any.
std::vector<Route> endpoints(const Sources& sources);

}  // namespace prefix_router::admin
