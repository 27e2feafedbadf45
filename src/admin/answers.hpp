#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "prefix_router/admin/server.hpp"
#include "prefix_router/base/error.hpp"

namespace prefix_router::admin {

Answer json_answer(const nlohmann::json& value, unsigned status = 200);
Answer refusal(unsigned status, const std::string& message);
/// 404 where something is not there, 409 where it contradicts what is, 403, or 400.
Answer refusal(const Error& error);

}  // namespace prefix_router::admin
