#pragma once

#include <map>
#include <string>
#include <string_view>

namespace prefix_router::admin {

/// Splits a request target into its path and its decoded query: "/decisions?limit=5" gives
/// "/decisions", {limit: 5}. Malformed percent escapes stay as they are.
void split_target(std::string_view target, std::string& path,
                  std::map<std::string, std::string>& query);

}  // namespace prefix_router::admin
