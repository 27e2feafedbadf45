#pragma once

#include <map>
#include <string>
#include <string_view>

namespace prefix_router::admin {

/// Whether `path` is one of those that `pattern` stands for: "/backends/{id}/drain" is any segment
/// between the others, which `parameters` then has as id.
bool matches(std::string_view pattern, std::string_view path,
             std::map<std::string, std::string>& parameters);

}  // namespace prefix_router::admin
