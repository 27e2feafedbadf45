#pragma once

#include "prefix_router/config/config.hpp"

#include "config/raw_yaml.hpp"
#include "config/report.hpp"

namespace prefix_router::config {

/// Reads the section `discovery` with its lists of sources.
void read_discovery(const RawNode& node, Config& config, Report& report);

}  // namespace prefix_router::config
