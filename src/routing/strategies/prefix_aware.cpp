#include "routing/strategies/prefix_aware.hpp"

#include "routing/strategies/least_outstanding.hpp"
#include "routing/strategies/rendezvous.hpp"

namespace prefix_router::routing {

Choice PrefixAware::choose(const Question& question, std::span<const BackendSlot> candidates) {
    if (question.key.fixed_prefix == 0) {
        return {least_outstanding(view_, candidates), Reason::LeastLoaded};
    }
    const pool::Backend* home = nullptr;
    std::uint64_t home_weight = 0;
    for (const BackendSlot slot : candidates) {
        const pool::Backend& backend = *view_.pool.find(slot);
        const std::uint64_t weight = rendezvous_weight(question.key.fixed_prefix, backend);
        if (home == nullptr || weight > home_weight) {
            home = &backend;
            home_weight = weight;
        }
    }
    if (home->in_flight < threshold_) {
        return {home->slot, Reason::Home};
    }
    return {least_outstanding(view_, candidates), Reason::HomeFull};
}

}  // namespace prefix_router::routing
