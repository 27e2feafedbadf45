#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/base/error.hpp"
#include "prefix_router/base/ids.hpp"
#include "prefix_router/config/config.hpp"
#include "prefix_router/sim/engine.hpp"
#include "prefix_router/sim/trace.hpp"

namespace prefix_router::sim {

/// How the router knows the KV capacity of a backend.
struct CapacityBelief {
    enum class Kind : std::uint8_t {
        Known,    ///< the truth, never corrected
        Told,     ///< as the daemon: the truth scraped, corrected by reports of cached tokens
        Learned,  ///< starts at 1,000,000 tokens
        Factor,   ///< starts at `factor` times the truth, then learned
    } kind = Kind::Known;
    double factor = 1;
};

/// Everything a replay depends on besides the trace file.
struct ReplayOptions {
    std::vector<std::string> strategies = {"adaptive", "least_outstanding_requests"};
    std::size_t backends = 8;
    /// Of one backend; block_tokens is taken from the trace.
    EngineOptions engine;
    std::vector<double> speeds;  ///< relative prefill speed per backend; empty: all 1
    /// Time scale so that the prefill work which one perfect LRU cache of the fleet's size leaves
    /// is this share of the fleet's prefill capacity; nullopt: `speed`.
    std::optional<double> load;
    double speed = 1;  ///< the trace is replayed this many times faster than recorded
    /// The next turn of a session comes `think` after the previous answer's end, not at its stamp.
    bool closed_loop = false;
    CapacityBelief capacity;
    config::Routing routing;  ///< strategy is set from `strategies`
    std::uint64_t seed = 1;   ///< feeds ties
};

/// What one strategy made of a trace. The first tenth of the requests, by arrival, warms up and is
/// not counted in ratios and times.
struct ReplayResult {
    std::string strategy;
    std::size_t requests = 0;  ///< all, warm-up included
    double token_hit_ratio = 0;
    /// Expected over found cached tokens, where the strategy expects and any were found.
    std::optional<double> expected_over_found;
    Seconds ttft_mean = 0;
    Seconds ttft_p50 = 0;
    Seconds ttft_p90 = 0;
    Seconds ttft_p99 = 0;
    double work_max_over_mean = 0;  ///< prefill seconds of the busiest backend over the mean
    double bound_infinite = 0;      ///< token hit ratio of one cache that never evicts
    double bound_lru = 0;           ///< of one LRU cache of the fleet's size
    double time_scale = 1;
    std::size_t held = 0;       ///< requests that waited in the router's queue
    Seconds held_mean = 0;      ///< of those
    Seconds span = 0;           ///< until the last answer's end
    std::vector<Seconds> ttft;  ///< counted requests, ascending
    /// Per backend the prefill seconds scheduled in each of kLoadBuckets equal parts of `span`.
    static constexpr std::size_t kLoadBuckets = 120;
    std::vector<std::array<double, kLoadBuckets>> load;
};

/// True for the daemon's strategies and the rivals.
bool is_strategy_known(std::string_view name);
/// All of them, the daemon's first.
std::vector<std::string> known_strategies();

/// Called now and then with the share done, 0-1.
using Progress = std::function<void(double)>;

/// A discrete-event simulation in virtual time of one fleet under one strategy: the daemon's own
/// Router, map and pool (or a rival) over simulated engines. Deterministic. Fails when a request
/// can never fit into a backend's KV memory.
Result<ReplayResult> replay(const Trace& trace, const ReplayOptions& options,
                            const std::string& strategy, const Progress& progress = {});

/// `prefix-router replay ...`: reads a trace, replays it under each strategy, prints a table or
/// JSON on standard output, progress and errors on standard error. `arguments` are those after
/// "replay". Returns the process's exit code: 0, 1 (cannot be replayed), 2 (bad arguments).
int replay_command(std::span<const char* const> arguments);

}  // namespace prefix_router::sim
