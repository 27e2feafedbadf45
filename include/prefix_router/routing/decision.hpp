#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/base/ids.hpp"

namespace prefix_router::routing {

/// Why this backend: the same word in metric, log, header and /decisions.
enum class Reason : std::uint8_t {
    Warm,         // the cheapest, and a useful part of the prompt is cached there
    Cold,         // the cheapest, nothing useful cached anywhere
    Spilled,      // a warmer backend exists, its wait costs more
    Home,         // prefix_aware: the prefix's home; adaptive: a tie broken by rendezvous
    HomeFull,     // prefix_aware: the home is at its threshold
    LeastLoaded,  // no key, or least_outstanding_requests
    RoundRobin,
    Random,
    Trial,    // the one request that tries an ejected backend
    Panic,    // nobody is usable: the least bad
    Retried,  // the first choice failed or refused
};
inline constexpr std::size_t kReasonCount = 11;
std::string_view to_string(Reason reason);

/// The terms of ROUTING.md section 1 for one candidate, in seconds, for /decisions and /explain.
struct CostTerms {
    BackendSlot backend;
    Tokens match = 0;
    Seconds backlog = 0;      ///< u
    Seconds own = 0;          ///< x
    Seconds eviction = 0;     ///< x * e
    Seconds externality = 0;  ///< lam * x * (2u + x) / (2 (1 - rho))
    Seconds memory_wait = 0;  ///< m
    Seconds in_flight = 0;    ///< 0.004 * n
    Seconds slot_wait = 0;    ///< until it takes one more request; 0: it does now
    Seconds total = 0;
};

/// What to do with a request.
enum class Action : std::uint8_t { Send, Wait, Refuse };

/// Why a request was refused.
enum class Refusal : std::uint8_t {
    None,
    NoBackend,     // nobody is there, or nobody is left to try
    QueueFull,     // nobody has room, and no more may wait
    Displaced,     // a request of a higher priority took its place in the queue
    QueueTimeout,  // it waited too long, or would have to
    Deadline,      // its own deadline passed, or cannot be met
};

struct Decision {
    Action action = Action::Refuse;
    Refusal refusal = Refusal::None;  ///< with Refuse
    BackendSlot backend;              ///< with Send
    Reason reason = Reason::Cold;     ///< with Send
    Tokens expected_cached = 0;       ///< with Send
    Tokens prompt_tokens = 0;         ///< estimate of the whole prompt
    Seconds expected_wait = 0;        ///< u + x of the chosen backend, with Send
    Seconds retry_after = 0;  ///< expected until the queue is through, with Refuse; 0: unknown
};

}  // namespace prefix_router::routing
