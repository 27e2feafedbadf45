// The set of backends, which changes by one step at a time.
#include <algorithm>
#include <mutex>
#include <utility>

#include "prefix_router/proxy/routing_desk.hpp"

namespace prefix_router::proxy {

std::size_t RoutingDesk::apply(const RosterStep& step) {
    std::vector<BackendRef> gone;  // and with them their series: after the lock
    const std::lock_guard lock(mutex_);
    for (const BackendRef& backend : step.leaving) {
        leave(backend);
    }
    let_go(gone);
    for (const auto& alteration : step.changing) {
        alter(alteration);
    }
    waiting_.insert(waiting_.end(), step.joining.begin(), step.joining.end());
    let_in();
    if (router_.held() != 0) {
        router_.tick(clock_.now());
    }
    wake_released();
    return waiting_.size();
}

/// Null: it does not wait.
RosterStep::Arrival* RoutingDesk::find_waiting(const BackendRef& backend) {
    const auto found = std::ranges::find(waiting_, backend, &RosterStep::Arrival::backend);
    return found != waiting_.end() ? &*found : nullptr;
}

void RoutingDesk::join(const RosterStep::Arrival& arrival) {
    const BackendSlot slot = *pool_.add(arrival.spec);  // there is room, and the id is new
    pool_.find(slot)->draining = arrival.drains;
    arrival.backend->slot = slot;
    if (entries_.size() <= slot.index()) {
        entries_.resize(slot.index() + 1);
        published_saved_.resize(slot.index() + 1);
    }
    entries_[slot.index()] = arrival.backend;
    published_saved_[slot.index()] = 0;
    router_.backend_added(slot, clock_.now());
}

void RoutingDesk::leave(const BackendRef& backend) {
    backend->is_leaving.store(true);
    pool::Backend* const leaver = find(backend);
    if (leaver == nullptr) {
        std::erase_if(waiting_, [&](const auto& arrival) { return arrival.backend == backend; });
        return;
    }
    leaver->draining = true;
    leaver->leaving = true;
    ++leaving_;
}

void RoutingDesk::alter(const RosterStep::Alteration& alteration) {
    const BackendRef& next = alteration.next ? alteration.next : alteration.backend;
    if (alteration.next) {
        alteration.backend->is_leaving.store(true);  // such connections are not made any more
    }
    next->is_capacity_told.store(alteration.spec.capacity_tokens.has_value());
    if (RosterStep::Arrival* const arrival = find_waiting(alteration.backend)) {
        *arrival = {alteration.spec, next, arrival->drains};
        return;
    }
    const BackendSlot slot = alteration.backend->slot;
    const config::Backend before = pool_.find(slot)->spec;
    next->slot = slot;
    entries_[slot.index()] = next;
    pool_.change(slot, alteration.spec);
    router_.backend_changed(slot, before, clock_.now());
}

/// Of those that leave, the ones whose last request has ended.
void RoutingDesk::let_go(std::vector<BackendRef>& gone) {
    if (leaving_ == 0) {
        return;
    }
    const std::vector<BackendSlot> slots(pool_.slots().begin(), pool_.slots().end());
    for (const BackendSlot slot : slots) {
        if (pool_.find(slot)->leaving && router_.is_idle(slot)) {
            publish_saved(slot, router_.belief(slot, clock_.now()));
            router_.backend_removed(slot);
            pool_.remove(slot);
            gone.push_back(std::move(entries_[slot.index()]));
            --leaving_;
        }
    }
}

/// Those that wait, as far as there are places.
void RoutingDesk::let_in() {
    const std::size_t free = kMaxBackends - pool_.slots().size();
    const auto end =
        waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(free, waiting_.size()));
    std::for_each(waiting_.begin(), end, [this](const auto& arrival) { join(arrival); });
    waiting_.erase(waiting_.begin(), end);
}

void RoutingDesk::set_draining(const BackendRef& backend, bool is_draining) {
    const std::lock_guard lock(mutex_);
    if (RosterStep::Arrival* const arrival = find_waiting(backend)) {
        arrival->drains = is_draining;
        return;
    }
    pool::Backend* const present = find(backend);
    if (present != nullptr && !present->leaving) {
        present->draining = is_draining;
    }
}

}  // namespace prefix_router::proxy
