#pragma once

#include <optional>
#include <string>

#include "prefix_router/config/config.hpp"

#include "config/raw_yaml.hpp"
#include "config/report.hpp"

namespace prefix_router::config {

/// Reads one entry; nullopt, with its problems reported, where it is none. `where` names it.
std::optional<Backend> read_backend(const RawNode& node, const std::string& where, Report& report);

/// Reads the list of backends, which may be empty.
void read_backends(const RawNode& node, Config& config, Report& report);

/// Reads a file of nothing else: the list, or a map with nothing but 'backends:' in it.
void read_only_backends(const RawNode& root, Config& config, Report& report);

}  // namespace prefix_router::config
