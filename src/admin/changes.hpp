#pragma once

#include <vector>

#include "prefix_router/admin/endpoints.hpp"

namespace prefix_router::admin {

/// What changes the router: backends, log level, reload, drain. Each change is logged with who made
/// it.
std::vector<Route> changes(const Sources& sources);

}  // namespace prefix_router::admin
