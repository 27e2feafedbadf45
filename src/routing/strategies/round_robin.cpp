#include "routing/strategies/round_robin.hpp"

namespace prefix_router::routing {

Choice RoundRobin::choose(const Question& /*question*/, std::span<const BackendSlot> candidates) {
    double total = 0;
    const BackendSlot* best = nullptr;
    for (const BackendSlot& slot : candidates) {
        if (slot.index() >= credit_.size()) {
            credit_.resize(slot.index() + 1, 0.0);
        }
        const double weight = view_.pool.find(slot)->spec.weight;
        credit_[slot.index()] += weight;
        total += weight;
        if (best == nullptr || credit_[slot.index()] > credit_[best->index()]) {
            best = &slot;
        }
    }
    credit_[best->index()] -= total;
    return {*best, Reason::RoundRobin};
}

void RoundRobin::forget(BackendSlot slot) {
    if (slot.index() < credit_.size()) {
        credit_[slot.index()] = 0;
    }
}

}  // namespace prefix_router::routing
