#include "chat_load/options.hpp"

#include <charconv>

#include <CLI/CLI.hpp>

namespace prefix_router::chat_load {
namespace {

constexpr std::string_view kScheme = "http://";

// http://HOST[:PORT][/]; anything else is a complaint.
std::string read_url(std::string text, Options& options) {
    if (!text.starts_with(kScheme)) return "must start with http://";
    text.erase(0, kScheme.size());
    if (text.ends_with('/')) text.pop_back();
    const std::size_t colon = text.rfind(':');
    options.host = text.substr(0, colon);
    if (options.host.empty() || text.find('/') != std::string::npos)
        return "must be http://HOST:PORT";
    if (colon == std::string::npos) return {};
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, options.port);
    return error == std::errc() && stop == end ? std::string() : "has no valid port";
}

void add_workload_options(CLI::App& app, Workload& workload) {
    const auto count = CLI::Range(std::size_t{1}, std::size_t{1'000'000});
    app.add_option("--tenants", workload.tenants, "Different system prompts")
        ->check(count)
        ->capture_default_str();
    app.add_option("--system-tokens", workload.system_tokens, "Length of a system prompt")
        ->check(count)
        ->capture_default_str();
    app.add_option("--turns", workload.turns, "Questions in a conversation")
        ->check(count)
        ->capture_default_str();
    app.add_option("--user-tokens", workload.user_tokens, "Length of a question")
        ->check(count)
        ->capture_default_str();
    app.add_option("--answer-tokens", workload.answer_tokens, "Length of an answer")
        ->check(count)
        ->capture_default_str();
    app.add_option("--model", workload.model, "Model to ask")->capture_default_str();
    app.add_option("--seed", workload.seed, "Seed of the workload")->capture_default_str();
    app.add_flag("--stream,!--no-stream", workload.stream, "Ask for streams")
        ->capture_default_str();
}

void add_run_options(CLI::App& app, Options& options) {
    app.add_option("--concurrency", options.concurrency, "Conversations at a time (closed loop)")
        ->check(CLI::Range(std::size_t{1}, std::size_t{100'000}))
        ->capture_default_str();
    app.add_option("--rate", options.rate, "Requests per second (open loop) instead")
        ->check(CLI::Range(0.0, 1e6));
    app.add_option("--think", options.think_seconds, "Mean seconds between two turns")
        ->check(CLI::Range(0.0, 1e6))
        ->capture_default_str();
    app.add_option("--duration", options.duration_seconds, "Seconds of load")
        ->check(CLI::Range(0.1, 1e6))
        ->capture_default_str();
    app.add_option("--warmup", options.warmup_seconds, "Seconds at the start that do not count")
        ->check(CLI::Range(0.0, 1e6))
        ->capture_default_str();
    app.add_option("--requests", options.requests, "Stop after this many requests");
    app.add_option("--timeout", options.timeout_seconds, "Seconds for one request")
        ->check(CLI::Range(0.1, 1e6))
        ->capture_default_str();
}

void add_trace_options(CLI::App& app, Options& options) {
    TraceLoad& trace = options.trace;
    const auto factor = CLI::Range(1e-6, 1e6);
    app.add_option("--trace", trace.path,
                   "Send this trace instead: JSON lines, plain, gzip or xz, as replay reads them");
    app.add_option("--sessions", trace.read.sessions, "Only this many sessions of the trace");
    app.add_option("--until", trace.read.until, "Only its requests before this second")
        ->check(CLI::Range(1e-3, 1e12));
    app.add_option("--speed", trace.speed, "Send it this many times faster than recorded")
        ->check(factor);
    app.add_flag("--closed-loop", trace.closed_loop,
                 "A session's next turn comes after the previous answer and its think time");
    app.add_option("--samples", trace.samples_path, "Write one JSON line per answer to this file");
    app.add_option("--speed-up", options.speed_up,
                   "The servers run this many times faster than real ones, and so the trace; times "
                   "are reported in the trace's seconds")
        ->check(factor);
}

}  // namespace

ParsedCommandLine parse_command_line(int argc, const char* const* argv) {
    ParsedCommandLine parsed;
    Options& options = parsed.options;
    std::string url;
    CLI::App app{"chat-load: multi-tenant chat clients that check what they are answered"};
    app.add_option("--url", url, "Where to send: http://HOST:PORT")->required();
    app.add_option("--strategy", options.label, "Label of this run in the report");
    app.add_option("--api-key", options.api_key, "Sent as a bearer token");
    app.add_flag("--json", options.json, "Print one JSON object");
    app.add_flag("--progress", options.progress, "Say how far it is on standard error");
    add_workload_options(app, options.workload);
    add_run_options(app, options);
    add_trace_options(app, options);
    try {
        app.parse(argc, argv);
        if (const std::string complaint = read_url(url, options); !complaint.empty())
            throw CLI::ValidationError("--url", complaint);
        options.trace.read.seed = options.workload.seed;
        parsed.run = true;
    } catch (const CLI::ParseError& error) {
        parsed.exit_code = app.exit(error) == 0 ? 0 : 2;
    }
    return parsed;
}

}  // namespace prefix_router::chat_load
