#include "routing/strategies/prefix_aware.hpp"

#include <algorithm>

#include "routing/strategies/least_outstanding.hpp"
#include "routing/strategies/rendezvous.hpp"

namespace prefix_router::routing {

Choice PrefixAware::choose(const Question& question, std::span<const BackendSlot> candidates) {
    if (question.key.fixed_prefix == 0) {
        return {least_outstanding(view_, candidates), Reason::LeastLoaded};
    }
    const pool::Backend* home = nullptr;
    std::uint64_t home_weight = 0;
    for (const BackendSlot slot : question.fleet) {
        const pool::Backend& backend = *view_.pool.find(slot);
        const std::uint64_t weight = rendezvous_weight(question.key.fixed_prefix, backend);
        if (home == nullptr || weight > home_weight) {
            home = &backend;
            home_weight = weight;
        }
    }
    const bool has_room =
        candidates.size() == question.fleet.size() ||
        std::find(candidates.begin(), candidates.end(), home->slot) != candidates.end();
    if (has_room && view_.fleet.at(home->slot).requests < threshold_) {
        return {home->slot, Reason::Home};
    }
    return {least_outstanding(view_, candidates), Reason::HomeFull};
}

}  // namespace prefix_router::routing
