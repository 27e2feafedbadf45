#include "routing/strategies/least_outstanding.hpp"

namespace prefix_router::routing {

BackendSlot least_outstanding(const View& view, std::span<const BackendSlot> candidates) {
    BackendSlot best = candidates.front();
    double best_load = view.pool.find(best)->in_flight;
    double best_weight = view.pool.find(best)->spec.weight;
    std::uint64_t ties = 1;
    for (const BackendSlot slot : candidates.subspan(1)) {
        const pool::Backend& backend = *view.pool.find(slot);
        const double load = backend.in_flight;
        const double mine = load * best_weight;
        const double other = best_load * backend.spec.weight;
        if (mine > other || (mine == other && view.random.below(++ties) != 0)) {
            continue;
        }
        ties = mine == other ? ties : 1;
        best = slot;
        best_load = load;
        best_weight = backend.spec.weight;
    }
    return best;
}

Choice LeastOutstanding::choose(const Question& /*question*/,
                                std::span<const BackendSlot> candidates) {
    return {least_outstanding(view_, candidates), Reason::LeastLoaded};
}

}  // namespace prefix_router::routing
