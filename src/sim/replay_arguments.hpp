#pragma once

#include <span>
#include <string>
#include <variant>

#include "prefix_router/sim/replay.hpp"
#include "prefix_router/sim/trace.hpp"

namespace prefix_router::sim {

/// `prefix-router replay ...` as typed values.
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
