#include "engine_sim/options.hpp"

#include <iostream>
#include <limits>

#include <CLI/CLI.hpp>

#include "prefix_router/base/usage_error.hpp"

namespace prefix_router::engine_sim {
namespace {

void add_server_options(CLI::App& app, Options& options) {
    app.add_option("--port,--ports", options.ports,
                   "Ports, comma-separated: each is an independent engine; 0 picks a free one")
        ->delimiter(',')
        ->capture_default_str();
    app.add_option("--host", options.host, "Address to listen on")->capture_default_str();
    app.add_option("--model", options.models, "Names of the models served, comma-separated")
        ->delimiter(',')
        ->capture_default_str();
    app.add_flag("--any-model", options.any_model, "Serve whatever model a request names");
    app.add_option("--max-tokens", options.max_tokens, "Answer length when a request sets none")
        ->check(CLI::Range(Tokens{1}, Tokens{1'000'000}))
        ->capture_default_str();
    app.add_option("--time-scale", options.time_scale, "Engine seconds per real second")
        ->check(CLI::Range(0.001, 10'000.0))
        ->capture_default_str();
    app.add_option("--seed", options.seed, "Seed of the faults")->capture_default_str();
}

void add_engine_options(CLI::App& app, sim::EngineOptions& engine) {
    const auto positive = CLI::Range(1e-6, 1e12);
    app.add_option("--kv-tokens", engine.kv_tokens, "KV cache of one engine in tokens")
        ->check(CLI::Range(kBlockTokens, Tokens{1} << 32))
        ->capture_default_str();
    app.add_option("--prefill-rate", engine.prefill_rate, "Prefill tokens per second at position 0")
        ->check(positive)
        ->capture_default_str();
    app.add_option("--overhead", engine.overhead, "Fixed prefill seconds of a request")
        ->check(CLI::Range(0.0, 1e6))
        ->capture_default_str();
    app.add_option("--attention-length", engine.attention_length,
                   "Position at which a token's attention costs as much as the rest of it "
                   "(default: never)")
        ->check(positive);
    app.add_option("--decode-rate", engine.decode_rate, "Tokens per second of one answer")
        ->check(positive)
        ->capture_default_str();
    app.add_option("--slots", engine.slots, "Requests running at once")
        ->check(CLI::Range(1U, 1U << 20))
        ->capture_default_str();
    app.add_option("--interleave", engine.interleave, "Prefills that share one prefill server")
        ->check(CLI::Range(1U, 1U << 16))
        ->capture_default_str();
    app.add_option("--lanes", engine.lanes, "Prefill servers at full speed side by side")
        ->check(CLI::Range(1U, 1U << 16))
        ->capture_default_str();
    app.add_option("--max-queued", engine.max_waiting,
                   "Refuse with 503 when more requests than this wait");
}

void add_habit_options(CLI::App& app, Habits& habits, bool& no_abort) {
    const auto share = CLI::Range(0.0, 1.0);
    app.add_flag("--close-after-stream", habits.close_after_stream,
                 "Close after every streamed answer while announcing keep-alive (llama.cpp)");
    app.add_flag("--no-abort-non-streaming", no_abort,
                 "Go on computing when the client of a non-streaming request leaves (llama.cpp)");
    app.add_flag("!--hide-capacity", habits.tells_capacity,
                 "Leave the size of the KV cache out of /metrics (TGI)");
    app.add_option("--idle-close", habits.idle_close_seconds,
                   "Close connections idle for this many seconds (vLLM: 5)")
        ->check(CLI::Range(0.0, 1e6));
    app.add_option("--error-event-rate", habits.error_event_rate,
                   "Share of streams that end with an error event and [DONE] (vLLM)")
        ->check(share);
    app.add_option("--die-mid-stream", habits.die_mid_stream_rate,
                   "Share of streams whose connection drops in the middle")
        ->check(share);
}

}  // namespace

ParsedCommandLine parse_command_line(int argc, const char* const* argv) {
    ParsedCommandLine parsed;
    parsed.options.engine.block_tokens = kBlockTokens;
    bool no_abort = false;
    CLI::App app{"A simulated LLM inference server (OpenAI API, vLLM's metrics)", "engine-sim"};
    add_server_options(app, parsed.options);
    add_engine_options(app, parsed.options.engine);
    add_habit_options(app, parsed.options.habits, no_abort);
    try {
        app.parse(argc, argv);
        parsed.run = true;
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) {  // --help
            parsed.exit_code = app.exit(error);
        } else {
            std::cerr << explain_usage(app, error);
            parsed.exit_code = 2;
        }
    }
    parsed.options.habits.abort_non_streaming = !no_abort;
    return parsed;
}

}  // namespace prefix_router::engine_sim
