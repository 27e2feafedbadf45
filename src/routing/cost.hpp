#pragma once

#include <optional>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/base/ids.hpp"
#include "prefix_router/routing/decision.hpp"

namespace prefix_router::routing {

/// What the cost of sending one request to one backend is made of.
struct CostInputs {
    Seconds backlog = 0;     ///< u: prefill work that goes first
    Seconds own = 0;         ///< x: the request's own prefill there
    double arrivals = 0;     ///< lam: requests per second and backend of the fleet
    double utilisation = 0;  ///< rho: prefill work per second and backend of the fleet
    Tokens prompt = 0;       ///< of the request
    Tokens uncached = 0;     ///< of it, not cached there
    Tokens working_set = 0;  ///< W: distinct tokens touched there lately
    Tokens capacity = 1;     ///< C
    Tokens pinned = 0;       ///< distinct tokens of requests in flight there
    double lanes = 1;        ///< prefills computed side by side there
    Seconds decode = 0;      ///< mean time from first byte to end
    /// KV memory, where it is known for sure; nullopt: no wait for it is expected.
    std::optional<Tokens> room;
    Seconds engine_wait = 0;  ///< until the engine has a slot for it, where it tells of slots
    double in_flight = 0;
    Seconds slot_wait = 0;  ///< until it takes one more request
};

/// The cost in seconds, term by term:
///
///     u + x (1 + e) + lam x (2u + x) / (2 (1 - rho)) + m + 0.004 n + s
///
/// u + x is the request's own time to first token. The third term is what it does to all arrivals
/// of the rest of the busy period: the value-function difference of an M/G/1 FIFO queue (Hyytia et
/// al., size- and state-aware dispatching); with several lanes each carries its share of arrivals,
/// work and delay. e is the share of the new tokens that would evict
/// tokens still in use, m the expected wait for KV memory, s that for a place where requests in
/// flight are limited. Fills every field but backend and match.
/// Example: u = 1, x = 0.5, lam = 1, rho = 0.5, all else 0: 1 + 0.5 + 1*0.5*2.5/1 = 2.75.
void price(const CostInputs& inputs, CostTerms& terms);

}  // namespace prefix_router::routing
