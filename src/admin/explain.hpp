#pragma once

#include "prefix_router/admin/endpoints.hpp"

namespace prefix_router::admin {

/// POST /explain?path=/v1/chat/completions&api_key=NAME&priority=high: what would be decided about
/// the request in the body.
Answer explain(const Sources& sources, const Request& request);

}  // namespace prefix_router::admin
