#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "prefix_router/sim/trace.hpp"

namespace prefix_router::chat_load {

/// The workload: conversations of several turns, each with the system prompt of one tenant.
struct Workload {
    std::size_t tenants = 24;
    std::size_t system_tokens = 6000;
    std::size_t turns = 4;
    std::size_t user_tokens = 100;
    std::size_t answer_tokens = 60;
    std::string model = "sim";
    std::uint64_t seed = 1;
    bool stream = true;
};

/// Instead of the workload: a recorded trace, with its own times.
struct TraceLoad {
    std::string path;  ///< "" = the workload
    sim::TraceOptions read;
    double speed = 1;          ///< this many times faster than recorded
    bool closed_loop = false;  ///< a session's next turn waits for the previous answer
    std::string samples_path;  ///< one JSON line per answer; "" = none
};

/// The command line of chat-load.
struct Options {
    std::string host;
    std::uint16_t port = 80;
    std::string label;    ///< copied into the report as "strategy"
    std::string api_key;  ///< sent as a bearer token when not empty
    Workload workload;
    TraceLoad trace;
    /// The servers run this many times faster than real ones: so does the trace.
    double speed_up = 1;
    /// Closed loop: this many conversations at a time, a new one when one ends.
    std::size_t concurrency = 32;
    /// Open loop when above 0: conversations start at this many requests per second in the mean.
    double rate = 0;
    double think_seconds = 0.5;    ///< mean pause before the next turn, exponential
    double duration_seconds = 20;  ///< no conversation turn starts after it
    double warmup_seconds = 0;     ///< turns that start before it are checked, not measured
    std::size_t requests = 0;      ///< stop after this many; 0 = by duration alone
    double timeout_seconds = 120;  ///< of one request
    bool json = false;             ///< one JSON object on standard output instead of the table
    bool progress = false;         ///< a line on standard error that says how far it is
};

struct ParsedCommandLine {
    bool run = false;  ///< false: leave with `exit_code`; help or the complaint has been printed
    int exit_code = 0;
    Options options;
};
ParsedCommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace prefix_router::chat_load
