#pragma once

#include "prefix_router/sim/engine.hpp"
#include "prefix_router/sim/trace.hpp"

namespace prefix_router::sim {

/// Token hit ratios that no routing can pass by much, over all requests in order of arrival.
struct Bounds {
    double infinite = 0;  ///< one cache that never evicts
    double lru = 0;       ///< one LRU cache of the whole fleet's size, without pinning
};
Bounds compute_bounds(const Trace& trace, Tokens fleet_kv_tokens);

/// Prefill seconds that one such cache with the given hit ratio leaves: (1 - ratio) of all tokens'
/// work at their positions, and every request's overhead.
Seconds prefill_work_left(const Trace& trace, const EngineOptions& engine, double hit_ratio);

}  // namespace prefix_router::sim
