#include "routing/cost.hpp"

#include <algorithm>

namespace prefix_router::routing {
namespace {

constexpr double kMostUtilisation = 0.9;
constexpr double kPressureWeight = 0.25;
constexpr double kMostPressure = 1.5;
constexpr Tokens kAnswerRoom = 512;
constexpr Seconds kPerRequestInFlight = 0.004;

double share_that_evicts(const CostInputs& in) {
    const auto fresh = static_cast<double>(std::max<Tokens>(1, in.uncached));
    const auto used = static_cast<double>(in.working_set);
    const auto room = static_cast<double>(std::max<Tokens>(1, in.capacity));
    return std::clamp((used + fresh - room) / fresh, 0.0, 1.0) +
           kPressureWeight * std::min(kMostPressure, used / room);
}

Seconds memory_wait(const CostInputs& in) {
    const Tokens needed = in.prompt + kAnswerRoom;
    if (!in.room || in.pinned + needed <= *in.room) {
        return 0;
    }
    const Tokens over = in.pinned + needed - *in.room;
    return in.decode *
           std::min(4.0, 0.25 + static_cast<double>(over) / static_cast<double>(needed));
}

}  // namespace

void price(const CostInputs& in, CostTerms& terms) {
    const double rho = std::min(kMostUtilisation, in.utilisation / in.lanes);
    terms.backlog = in.backlog;
    terms.own = in.own;
    terms.eviction = in.own * share_that_evicts(in);
    terms.externality =
        in.arrivals / in.lanes * in.own * (2 * in.backlog + in.own) / (2 * (1 - rho));
    terms.memory_wait = memory_wait(in) + in.engine_wait;
    terms.in_flight = kPerRequestInFlight * in.in_flight;
    terms.slot_wait = in.slot_wait;
    terms.total = terms.backlog + terms.own + terms.eviction + terms.externality +
                  terms.memory_wait + terms.in_flight + terms.slot_wait;
}

}  // namespace prefix_router::routing
