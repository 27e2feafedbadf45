#pragma once

#include "prefix_router/config/config.hpp"

#include "config/raw_yaml.hpp"
#include "config/report.hpp"

namespace prefix_router::config {

/// Reads the list of tokens of the admin listener.
void read_admin_tokens(const RawNode& node, Config& config, Report& report);
/// Reads the list of API keys.
void read_api_keys(const RawNode& node, Config& config, Report& report);

}  // namespace prefix_router::config
