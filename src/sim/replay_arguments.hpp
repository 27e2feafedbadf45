#pragma once

#include <span>
#include <string>
#include <variant>

#include "prefix_router/sim/replay.hpp"
#include "prefix_router/sim/trace.hpp"

namespace prefix_router::sim {

/// `prefix-router replay ...` as typed values: the trace, the fleet, the router and the output.
/// What makes no sense, alone or together, is told on standard error and ends the program, so that
/// the replay sees valid values only.
struct ReplayArguments {
    std::string trace_path;
    TraceOptions trace;
    ReplayOptions options;
    bool json = false;
    std::string html_path;  ///< "" = none
};

/// Nothing to replay: help was printed (0) or an error (2).
struct ReplayExit {
    int code = 0;
};

std::variant<ReplayArguments, ReplayExit> parse_replay_arguments(
    std::span<const char* const> arguments);

}  // namespace prefix_router::sim
