#include "prefix_router/routing/decision.hpp"

namespace prefix_router::routing {

std::string_view to_string(Reason reason) {
    switch (reason) {
        case Reason::Warm:
            return "warm";
        case Reason::Cold:
            return "cold";
        case Reason::Spilled:
            return "spilled";
        case Reason::Home:
            return "home";
        case Reason::HomeFull:
            return "home_full";
        case Reason::LeastLoaded:
            return "least_loaded";
        case Reason::RoundRobin:
            return "round_robin";
        case Reason::Random:
            return "random";
        case Reason::Trial:
            return "trial";
        case Reason::Panic:
            return "panic";
        case Reason::Retried:
            return "retried";
    }
    return "unknown";
}

}  // namespace prefix_router::routing
