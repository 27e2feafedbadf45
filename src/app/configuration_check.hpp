#pragma once

#include <string>
#include <vector>

#include "prefix_router/config/config.hpp"

namespace prefix_router::app {

/// What is behind a configuration: the files, variables and names in it.
struct Findings {
    std::vector<std::string> problems;  ///< the start, or a source of backends, would fail
    std::vector<std::string> warnings;  ///< all works and is probably meant otherwise
};

/// Opens what `config` names, as the start does, and changes nothing: no log file is made. Whether
/// a port is free is not looked at, since the router that serves now may hold it.
Findings look_behind(const config::Config& config);

}  // namespace prefix_router::app
