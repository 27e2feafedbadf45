#pragma once

#include <vector>

#include "prefix_router/admin/endpoints.hpp"

namespace prefix_router::admin {

/// The dashboard: its page and that page's files, which tell nothing about the fleet and ask for no
/// token (docs/adr/0011), and the feed of what it shows, which does both.
std::vector<Route> dashboard_routes(const Sources& sources);

}  // namespace prefix_router::admin
