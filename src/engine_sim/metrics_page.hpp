#pragma once

#include <cstdint>
#include <string>

#include "prefix_router/sim/engine.hpp"

namespace prefix_router::engine_sim {

/// What engine-sim counts beside the engine itself.
struct ServerCounters {
    std::uint64_t answers = 0;           ///< finished in good order
    std::uint64_t aborts = 0;            ///< ended because the client left
    std::uint64_t generated_tokens = 0;  ///< of finished answers
    std::uint64_t faults = 0;            ///< streams broken on purpose
};

/// The body of /metrics: the engine's state under vLLM's names, in Prometheus's text format; the
/// size of its KV cache only when it `tells_capacity`.
std::string metrics_page(const sim::Engine& engine, const ServerCounters& counters,
                         const std::string& model, bool tells_capacity = true);

}  // namespace prefix_router::engine_sim
