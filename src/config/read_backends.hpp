#pragma once

#include "prefix_router/config/config.hpp"

#include "config/raw_yaml.hpp"
#include "config/report.hpp"

namespace prefix_router::config {

/// Reads the list of backends.
void read_backends(const RawNode& node, Config& config, Report& report);

}  // namespace prefix_router::config
