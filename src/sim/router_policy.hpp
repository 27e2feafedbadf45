#pragma once

#include <memory>

#include "prefix_router/config/config.hpp"
#include "prefix_router/sim/replay.hpp"
#include "prefix_router/sim/trace.hpp"

#include "sim/policy.hpp"

namespace prefix_router::sim {

/// The daemon's routing core (Router, Pool, PrefixMap) as a policy of the replay. Block ids become
/// the hashes of prompt keys whose units are tokens. The trace must outlive it.
std::unique_ptr<Policy> make_router_policy(config::Strategy strategy, const ReplayOptions& options,
                                           const Trace& trace);

}  // namespace prefix_router::sim
