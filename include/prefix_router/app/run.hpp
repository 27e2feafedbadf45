#pragma once

#include <span>

namespace prefix_router::app {

/// The whole program: reads the arguments (program name first), then serves until a signal, replays
/// or prints. SIGTERM and SIGINT drain, a second one ends at once. Exit codes: 0 fine, 1 could not
/// start, 2 wrong arguments or configuration.
int run(std::span<const char* const> arguments);

}  // namespace prefix_router::app
