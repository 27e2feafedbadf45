#include "prefix_router/sim/replay.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "sim/bounds.hpp"
#include "sim/rivals/rival.hpp"
#include "sim/router_policy.hpp"
#include "sim/simulation.hpp"

namespace prefix_router::sim {
namespace {

constexpr std::array kDaemonStrategies = {
    config::Strategy::Adaptive,
    config::Strategy::PrefixAware,
    config::Strategy::LeastOutstandingRequests,
    config::Strategy::RoundRobin,
    config::Strategy::Random,
};

std::vector<Engine> make_engines(const Trace& trace, const ReplayOptions& options) {
    std::vector<Engine> engines;
    for (std::size_t k = 0; k < options.backends; ++k) {
        EngineOptions engine = options.engine;
        engine.block_tokens = trace.block_tokens;
        if (!options.speeds.empty()) engine.prefill_rate *= options.speeds[k];
        engines.emplace_back(engine);
    }
    return engines;
}

std::unique_ptr<Policy> make_policy(const std::string& name, const ReplayOptions& options,
                                    const Trace& trace, std::span<const Engine> engines) {
    for (const config::Strategy strategy : kDaemonStrategies) {
        if (config::to_string(strategy) == name)
            return make_router_policy(strategy, options, trace);
    }
    RivalFleet fleet;
    fleet.engines = engines;
    fleet.block_tokens = trace.block_tokens;
    fleet.believed_kv_tokens = options.engine.kv_tokens;
    if (options.capacity.kind == CapacityBelief::Kind::Factor) {
        const auto truth = static_cast<double>(options.engine.kv_tokens);
        fleet.believed_kv_tokens = static_cast<Tokens>(truth * options.capacity.factor);
    }
    fleet.prefill_rate = options.engine.prefill_rate;
    fleet.seed = options.seed;
    return make_rival_policy(name, fleet, trace);
}

double time_scale(const Trace& trace, const ReplayOptions& options, const Bounds& bounds) {
    if (!options.load) return options.speed;
    double servers = static_cast<double>(options.backends);
    if (!options.speeds.empty()) {
        servers = std::accumulate(options.speeds.begin(), options.speeds.end(), 0.0);
    }
    servers *= options.engine.lanes;
    const Seconds work = prefill_work_left(trace, options.engine, bounds.lru);
    return *options.load * trace.requests.back().arrival * servers / work;
}

/// The value that the share `rank` of the ascending values lies below.
Seconds quantile(const std::vector<Seconds>& ascending, double rank) {
    const auto at = static_cast<std::size_t>(rank * static_cast<double>(ascending.size()));
    return ascending[std::min(at, ascending.size() - 1)];
}

void summarise_requests(const Trace& trace, const Simulated& simulated, ReplayResult& result) {
    std::vector<std::size_t> order(simulated.served.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return simulated.served[a].arrival < simulated.served[b].arrival;
    });
    Tokens prompt_tokens = 0;
    Tokens cached_tokens = 0;
    std::optional<Tokens> expected;
    for (std::size_t k = order.size() / 10; k < order.size(); ++k) {
        const Served& served = simulated.served[order[k]];
        prompt_tokens += trace.requests[order[k]].prompt_tokens;
        cached_tokens += served.cached_tokens;
        if (served.expected_cached) expected = expected.value_or(0) + *served.expected_cached;
        result.ttft.push_back(served.first_token - served.arrival);
        if (served.sent > served.arrival) {
            ++result.held;
            result.held_mean += served.sent - served.arrival;
        }
    }
    if (result.held > 0) result.held_mean /= static_cast<double>(result.held);
    std::sort(result.ttft.begin(), result.ttft.end());
    const Seconds sum = std::accumulate(result.ttft.begin(), result.ttft.end(), 0.0);
    result.token_hit_ratio =
        static_cast<double>(cached_tokens) / static_cast<double>(prompt_tokens);
    if (expected && cached_tokens > 0) {
        result.expected_over_found =
            static_cast<double>(*expected) / static_cast<double>(cached_tokens);
    }
    result.ttft_mean = sum / static_cast<double>(result.ttft.size());
    result.ttft_p50 = quantile(result.ttft, 0.5);
    result.ttft_p90 = quantile(result.ttft, 0.9);
    result.ttft_p99 = quantile(result.ttft, 0.99);
}

void summarise_work(const Simulated& simulated, std::size_t backends, ReplayResult& result) {
    for (const Served& served : simulated.served) result.span = std::max(result.span, served.end);
    result.load.resize(backends);
    std::vector<double> sums(backends);
    for (const WorkSample& sample : simulated.work) {
        const auto bucket = static_cast<std::size_t>(
            sample.at / result.span * static_cast<double>(ReplayResult::kLoadBuckets));
        const std::size_t inside = std::min(bucket, ReplayResult::kLoadBuckets - 1);
        result.load[sample.backend][inside] += sample.work;
        sums[sample.backend] += sample.work;
    }
    const double total = std::accumulate(sums.begin(), sums.end(), 0.0);
    const double most = *std::max_element(sums.begin(), sums.end());
    result.work_max_over_mean = most / (total / static_cast<double>(backends));
}

}  // namespace

std::vector<std::string> known_strategies() {
    const auto rivals = rival_names();
    std::vector<std::string> result;
    result.reserve(std::size(kDaemonStrategies) + std::size(rivals));
    for (const config::Strategy strategy : kDaemonStrategies) {
        result.emplace_back(config::to_string(strategy));
    }
    for (const std::string_view name : rivals) result.emplace_back(name);
    return result;
}

bool is_strategy_known(std::string_view name) {
    const std::vector<std::string> known = known_strategies();
    return std::find(known.begin(), known.end(), name) != known.end();
}

Result<ReplayResult> replay(const Trace& trace, const ReplayOptions& options,
                            const std::string& strategy, const Progress& progress) {
    std::vector<Engine> engines = make_engines(trace, options);
    const std::unique_ptr<Policy> policy = make_policy(strategy, options, trace, engines);
    if (!policy) return Error(ErrorKind::InvalidConfiguration, "no strategy '" + strategy + "'");
    if (options.load && trace.requests.back().arrival <= 0) {
        return Error(ErrorKind::InvalidConfiguration,
                     "--load scales the time between requests, and in '" + trace.name +
                         "' all come at once; replay it with --speed");
    }
    const Bounds bounds =
        compute_bounds(trace, options.engine.kv_tokens * static_cast<Tokens>(options.backends));
    SimulationSetting setting;
    setting.time_scale = time_scale(trace, options, bounds);
    setting.closed_loop = options.closed_loop;
    auto simulated = simulate(trace, engines, *policy, setting, progress);
    if (!simulated) return simulated.error();
    ReplayResult result;
    result.strategy = strategy;
    result.requests = trace.requests.size();
    result.bound_infinite = bounds.infinite;
    result.bound_lru = bounds.lru;
    result.time_scale = setting.time_scale;
    summarise_requests(trace, *simulated, result);
    summarise_work(*simulated, options.backends, result);
    return result;
}

}  // namespace prefix_router::sim
