#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/base/error.hpp"
#include "prefix_router/sim/engine.hpp"
#include "prefix_router/sim/replay.hpp"
#include "prefix_router/sim/trace.hpp"

#include "sim/policy.hpp"

namespace prefix_router::sim {

/// What became of one request.
struct Served {
    Seconds arrival = -1;
    Seconds sent = -1;  ///< later than arrival: it was held
    Seconds first_token = -1;
    Seconds end = -1;
    Tokens cached_tokens = 0;
    std::optional<Tokens> expected_cached;  ///< by the policy, when it was sent
    std::size_t backend = 0;
};

/// A piece of prefill work that one backend began.
struct WorkSample {
    Seconds at = 0;
    std::size_t backend = 0;
    Seconds work = 0;
};

struct Simulated {
    std::vector<Served> served;  ///< by request number
    std::vector<WorkSample> work;
};

/// Runs the trace over the engines under the policy, event by event in virtual time.
/// `time_scale` 2: arrivals and thinking twice as fast as recorded.
struct SimulationSetting {
    double time_scale = 1;
    bool closed_loop = false;
};
Result<Simulated> simulate(const Trace& trace, std::span<Engine> engines, Policy& policy,
                           const SimulationSetting& setting, const Progress& progress);

}  // namespace prefix_router::sim
