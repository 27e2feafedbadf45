#pragma once

#include <functional>
#include <vector>

#include "prefix_router/admin/server.hpp"
#include "prefix_router/config/config.hpp"
#include "prefix_router/metrics/metrics.hpp"
#include "prefix_router/proxy/routing_desk.hpp"
#include "prefix_router/proxy/server.hpp"

namespace prefix_router::admin {

/// What the endpoints show. All outlive the admin server.
struct Sources {
    const config::Config& config;
    metrics::Registry& registry;
    proxy::Metrics& metrics;
    proxy::RoutingDesk& desk;
    const proxy::Server& server;
    const Clock& clock;
};

/// GET /metrics, /healthz, /readyz, /backends, /decisions?limit=N, /config, the dashboard at /, and
/// /openapi.json, which describes them all. No prompt and no credential appears in any.
std::vector<Route> endpoints(const Sources& sources);

}  // namespace prefix_router::admin
