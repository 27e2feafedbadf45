#pragma once

#include <string>
#include <vector>

#include "prefix_router/app/configuration_file.hpp"
#include "prefix_router/config/config.hpp"

namespace prefix_router::app {

FileStamp stamp_of(const std::string& path);
std::vector<FileStamp> stamps_of(const std::vector<std::string>& paths);

/// The files that a configuration names: certificates, keys, authorities, credentials.
std::vector<std::string> files_named_in(const config::Config& config);

}  // namespace prefix_router::app
