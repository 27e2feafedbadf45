#pragma once

#include <cstdint>
#include <string>

#include "prefix_router/config/config.hpp"

namespace prefix_router::discovery {

/// A backend as `common` says, at this IP address or name and port; its id follows from the URL.
/// Error: InvalidConfiguration, where the host cannot stand in a URL.
Result<config::Backend> new_backend(const config::Backend& common, const std::string& host,
                                    std::uint16_t port);

}  // namespace prefix_router::discovery
