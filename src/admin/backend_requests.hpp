#pragma once

#include <string>

#include "prefix_router/base/error.hpp"
#include "prefix_router/config/config.hpp"
#include "prefix_router/proxy/roster.hpp"

namespace prefix_router::admin {

/// A backend to add: the fields of an entry of the configuration, in JSON or YAML, but for those
/// that name files or variables of this machine. Error: InvalidConfiguration, with every problem.
Result<config::Backend> read_new_backend(const std::string& body);

/// What to set: weight, capacity_tokens, models, as in the configuration. Error:
/// InvalidConfiguration.
Result<proxy::Roster::Wishes> read_wishes(const std::string& body);

/// "weight 2, capacity_tokens auto", for the log.
std::string in_words(const proxy::Roster::Wishes& wishes);

}  // namespace prefix_router::admin
