#include "sim/replay_arguments.hpp"

#include <charconv>
#include <cmath>
#include <iostream>
#include <vector>

#include <CLI/CLI.hpp>

#include "prefix_router/base/usage_error.hpp"

namespace prefix_router::sim {
namespace {

constexpr int kUsageError = 2;

/// "30ms", "0.3s", "0.3" (seconds); nullopt when it is none of these.
std::optional<Seconds> parse_seconds(const std::string& text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    if (error != std::errc() || !std::isfinite(value) || value < 0 || value > 1e6) {
        return std::nullopt;
    }
    if (unit == "ms") return value / 1000;
    if (unit == "s" || unit.empty()) return value;
    return std::nullopt;
}

std::optional<double> parse_factor(const std::string& text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_whole = error == std::errc() && end == text.data() + text.size();
    return is_whole && value > 0 && value <= 1000 ? std::optional(value) : std::nullopt;
}

/// Options that CLI11 leaves as text.
struct Words {
    std::string overhead = "30ms";
    std::string capacity = "known";
    std::string hold = "auto";
    std::string hold_small;
    std::string until;
    std::size_t block_tokens = 0;
    double load = 0;
    std::uint32_t prefix_length = 16384;
};

void declare_fleet(CLI::App& cli, ReplayArguments& to, Words& words) {
    EngineOptions& engine = to.options.engine;
    cli.add_option("--backends", to.options.backends, "Number of backends")
        ->check(CLI::Range(1, 1024));
    cli.add_option("--kv-tokens", engine.kv_tokens, "KV memory of a backend, in tokens")
        ->check(CLI::Range(Tokens{1}, Tokens{1} << 40));
    cli.add_option("--prefill-rate", engine.prefill_rate, "Prefill tokens per second")
        ->check(CLI::Range(1e-3, 1e12));
    cli.add_option("--overhead", words.overhead, "Fixed prefill time of a request (30ms)");
    cli.add_option("--attention-length", engine.attention_length,
                   "Position at which a token's attention costs as much as all the rest of it; "
                   "without it every token costs the same")
        ->check(CLI::Range(1.0, 1e12));
    cli.add_option("--decode-rate", engine.decode_rate, "Decoded tokens per second of a sequence")
        ->check(CLI::Range(1e-3, 1e12));
    cli.add_option("--slots", engine.slots, "Sequences that a backend runs at once")
        ->check(CLI::Range(1, 1 << 20));
    cli.add_option("--interleave", engine.interleave, "Prefills that share a server; 1 is FIFO")
        ->check(CLI::Range(1, 1024));
    cli.add_option("--lanes", engine.lanes, "Prefill servers side by side in a backend")
        ->check(CLI::Range(1, 1024));
    cli.add_option("--speeds", to.options.speeds, "Relative prefill speed of each backend")
        ->delimiter(',')
        ->check(CLI::Range(1e-3, 1e3));
}

void declare_trace(CLI::App& cli, ReplayArguments& to, Words& words) {
    cli.add_option("--trace", to.trace_path, "JSON lines; plain, gzip or xz")
        ->required()
        ->type_name("FILE");
    cli.add_option("--trace-block", words.block_tokens, "Tokens per block, overriding the file")
        ->check(CLI::Range(1, 1 << 20));
    cli.add_option("--sessions", to.trace.sessions,
                   "Only this many sessions: the first by SHA-256 of SEED:SESSION")
        ->check(CLI::PositiveNumber);
    cli.add_option("--until", words.until, "Only what came in this first part of the recording")
        ->type_name("DURATION");
    auto* load = cli.add_option("--load", words.load,
                                "Scale time so that the prefill work left by one perfect cache "
                                "of the fleet's size is this share of the fleet's capacity")
                     ->check(CLI::Range(1e-3, 1e3));
    cli.add_option("--speed", to.options.speed, "Replay this many times faster than recorded")
        ->check(CLI::Range(1e-6, 1e6))
        ->excludes(load);
    cli.add_flag("--closed-loop", to.options.closed_loop,
                 "A session's next turn comes after the previous answer and its think time");
    cli.add_flag("--decode-cache", to.trace.cache_answers,
                 "Answers stay cached and are part of the next prompt");
    cli.add_option("--seed", to.options.seed, "Picks the sessions and feeds ties");
}

void declare_router(CLI::App& cli, ReplayArguments& to, Words& words) {
    std::string names;
    for (const std::string& name : known_strategies()) names += (names.empty() ? "" : ", ") + name;
    cli.add_option("--strategy", to.options.strategies, "Comma-separated: " + names + "; or all")
        ->delimiter(',')
        ->type_name("NAME,...");
    cli.add_option("--capacity", words.capacity,
                   "KV memory as the router knows it: known (never corrected), told (the daemon "
                   "behind engines that tell it), learned (from 1,000,000 tokens), or a factor "
                   "of the truth to start learning at")
        ->type_name("known|told|learned|FACTOR");
    cli.add_option("--hold", words.hold, "The router's queue: auto, off or its threshold")
        ->type_name("auto|off|DURATION");
    cli.add_option("--hold-small", words.hold_small, "Own prefill that is never held (800ms)")
        ->type_name("DURATION");
    cli.add_option("--hold-age", to.options.routing.hold_age, "Credit per second of waiting (0.1)")
        ->check(CLI::Range(0.0, 100.0));
    cli.add_option("--prefix-length", words.prefix_length,
                   "Characters that prefix_aware hashes, 4 to a token")
        ->check(CLI::Range(1024, 65536));
    cli.add_option("--concurrency-threshold", to.options.routing.concurrency_threshold,
                   "Requests in flight at which prefix_aware leaves a home")
        ->check(CLI::Range(1, 1024));
    cli.add_flag("--json", to.json, "One JSON object per strategy");
    cli.add_option("--html", to.html_path, "Write a page with charts")->type_name("FILE");
}

std::optional<std::chrono::milliseconds> as_milliseconds(const std::string& text) {
    const auto seconds = parse_seconds(text);
    if (!seconds) return std::nullopt;
    return std::chrono::milliseconds(std::llround(*seconds * 1000));
}

/// What is wrong with the text options; "" when nothing is.
std::string apply_words(const Words& words, ReplayArguments& to) {
    ReplayOptions& options = to.options;
    const auto overhead = parse_seconds(words.overhead);
    if (!overhead) return "--overhead: not a duration, such as 30ms: " + words.overhead;
    options.engine.overhead = *overhead;
    if (words.capacity == "told") {
        options.capacity.kind = CapacityBelief::Kind::Told;
    } else if (words.capacity == "learned") {
        options.capacity.kind = CapacityBelief::Kind::Learned;
    } else if (words.capacity != "known") {
        const auto factor = parse_factor(words.capacity);
        if (!factor)
            return "--capacity: known, told, learned or a factor such as 0.3: " + words.capacity;
        options.capacity = {CapacityBelief::Kind::Factor, *factor};
    }
    if (words.hold == "off") {
        options.routing.hold.reset();
    } else if (words.hold != "auto") {
        options.routing.hold = as_milliseconds(words.hold);
        if (!options.routing.hold || options.routing.hold->count() == 0)
            return "--hold: auto, off or a duration of 1ms or more: " + words.hold;
    }
    if (!words.hold_small.empty()) {
        const auto small = as_milliseconds(words.hold_small);
        if (!small) return "--hold-small: not a duration, such as 800ms: " + words.hold_small;
        options.routing.hold_small = *small;
    }
    if (!words.until.empty()) {
        const auto until = parse_seconds(words.until);
        if (!until || *until <= 0) return "--until: not a duration, such as 600s: " + words.until;
        to.trace.until = *until;
    }
    options.routing.prefix_length = words.prefix_length;
    if (words.block_tokens > 0) to.trace.block_tokens = static_cast<Tokens>(words.block_tokens);
    if (words.load > 0) options.load = words.load;
    to.trace.seed = options.seed;
    return "";
}

/// What is wrong between options; "" when nothing is.
std::string check_together(ReplayArguments& to) {
    ReplayOptions& options = to.options;
    if (options.strategies == std::vector<std::string>{"all"}) {
        options.strategies = known_strategies();
    }
    for (const std::string& name : options.strategies) {
        if (!is_strategy_known(name)) {
            return "--strategy: '" + name + "' is none; see --help for their names";
        }
    }
    if (!options.speeds.empty() && options.speeds.size() != options.backends) {
        return "--speeds: " + std::to_string(options.speeds.size()) + " values for " +
               std::to_string(options.backends) + " backends";
    }
    return "";
}

}  // namespace

std::variant<ReplayArguments, ReplayExit> parse_replay_arguments(
    std::span<const char* const> arguments) {
    CLI::App cli(
        "Replays a request trace over simulated backends, in virtual time, with the "
        "daemon's own routing code.",
        "prefix-router replay");
    cli.option_defaults()->always_capture_default(false);
    ReplayArguments result;
    Words words;
    declare_trace(cli, result, words);
    declare_fleet(cli, result, words);
    declare_router(cli, result, words);
    std::vector<const char*> argv = {"prefix-router replay"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    try {
        cli.parse(static_cast<int>(argv.size()), argv.data());
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) {  // --help
            return ReplayExit{cli.exit(error, std::cout, std::cerr)};
        }
        const auto trace = [](std::string_view) { return std::string_view("--trace"); };
        std::cerr << explain_usage(cli, error, trace);
        return ReplayExit{kUsageError};
    }
    std::string problem = apply_words(words, result);
    if (problem.empty()) problem = check_together(result);
    if (problem.empty()) return result;
    std::cerr << "prefix-router replay: " << problem << '\n';
    return ReplayExit{kUsageError};
}

}  // namespace prefix_router::sim
