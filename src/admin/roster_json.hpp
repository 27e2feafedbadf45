#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "prefix_router/proxy/roster.hpp"

namespace prefix_router::admin {

/// One backend as it was told and set: what a change answers with.
nlohmann::json member_json(const std::string& id, const proxy::Roster::Member& member);

}  // namespace prefix_router::admin
