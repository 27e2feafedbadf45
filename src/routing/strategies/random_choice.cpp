#include "routing/strategies/random_choice.hpp"

namespace prefix_router::routing {

Choice RandomChoice::choose(const Question& /*question*/, std::span<const BackendSlot> candidates) {
    double total = 0;
    for (const BackendSlot slot : candidates) {
        total += view_.pool.find(slot)->spec.weight;
    }
    double left = view_.random.unit() * total;
    for (const BackendSlot slot : candidates) {
        left -= view_.pool.find(slot)->spec.weight;
        if (left < 0) {
            return {slot, Reason::Random};
        }
    }
    return {candidates.back(), Reason::Random};
}

}  // namespace prefix_router::routing
