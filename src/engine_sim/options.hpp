#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "prefix_router/sim/engine.hpp"

namespace prefix_router::engine_sim {

inline constexpr Tokens kBlockTokens = 16;
inline constexpr Tokens kBytesPerToken = 4;

/// What real engines do on the wire and a router must survive; all off by default.
struct Habits {
    bool close_after_stream = false;  ///< llama.cpp: close after a stream, announcing keep-alive
    bool abort_non_streaming = true;  ///< llama.cpp: false, such a request goes on alone
    bool tells_capacity = true;       ///< TGI: false, /metrics does not tell the KV cache's size
    double idle_close_seconds = 0;    ///< uvicorn: 5, close idle connections; 0 = never
    double error_event_rate = 0;      ///< share of streams broken by an error event, then [DONE]
    double die_mid_stream_rate = 0;   ///< share of streams whose connection drops in the middle
};

/// The command line of engine-sim. Every port is an engine of its own; all share these settings.
struct Options {
    std::string host = "127.0.0.1";
    std::vector<std::uint16_t> ports{8000};
    std::vector<std::string> models{"sim"};
    bool any_model = false;   ///< llama.cpp: serve whatever model is named; else 404 as vLLM
    Tokens max_tokens = 64;   ///< length of an answer when the request does not say
    double time_scale = 1.0;  ///< engine seconds per real second
    std::uint64_t seed = 1;   ///< of the faults below
    sim::EngineOptions engine;
    Habits habits;
};

/// What main should do after the command line was read.
struct ParsedCommandLine {
    bool run = false;  ///< false: leave with `exit_code`; help or the complaint has been printed
    int exit_code = 0;
    Options options;
};
ParsedCommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace prefix_router::engine_sim
