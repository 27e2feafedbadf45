#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "prefix_router/app/configuration_file.hpp"
#include "prefix_router/config/config.hpp"

namespace prefix_router::app {

/// Serve with this configuration, from a file or from quick-start flags.
struct Serve {
    config::Config config;
    ConfigurationFile file;  ///< none for quick start
    double speed_up = 1;     ///< of the routing's time; 1 except in benchmarks
    std::string take_over;   ///< the Unix socket at which routers replace each other; "" for none
};

/// `prefix-router replay ...`: the arguments after the word, for sim::replay_command.
struct Replay {
    std::vector<std::string> arguments;
};

/// `prefix-router hash-key`: a key comes on standard input.
struct HashKey {};

/// Nothing more to do: help, version, `check`, or an error that was already printed.
struct Exit {
    int code = 0;
};

using Command = std::variant<Serve, Replay, HashKey, Exit>;

/// Reads `arguments` (program name first). Help and `check` results go to `out`, complaints to
/// `err`: each says what to do. Exit codes: 0 fine, 2 wrong arguments or configuration.
Command parse_command_line(std::span<const char* const> arguments, std::ostream& out,
                           std::ostream& err);

}  // namespace prefix_router::app
