#include "routing/fleet.hpp"

#include <utility>

namespace prefix_router::routing {
namespace {

constexpr double kFewestPerSecond = 1e-6;  // beneath it a mean is rounding errors

}  // namespace

void BackendState::settle(Seconds now) {
    if (backlog.settle(now)) {
        lanes.spoiled();  // predicted, not seen
        backlog_changed(now);
    }
}

void BackendState::backlog_changed(Seconds now) {
    lanes.pending_changed(backlog.pending(), now);
    if (!has_fixed_lanes) {
        backlog.set_lanes(static_cast<double>(lanes.lanes()));
    }
}

bool BackendState::has_free_lane() const {
    const auto known = static_cast<std::size_t>(backlog.lanes());
    const bool tries_one_more = !has_fixed_lanes && !lanes.is_settled();
    return backlog.pending() < known + (tries_one_more ? 1 : 0);
}

void ModelState::count(Seconds takes, Seconds now) {
    arrivals.add(1, now);
    work.add(takes, now);
    mean_prefill = work.at(now) / arrivals.at(now);
}

void ModelState::take_back(Seconds takes, Seconds then, Seconds now) {
    arrivals.take_back(1, then, now);
    work.take_back(takes, then, now);
    if (const double rate = arrivals.at(now); rate > kFewestPerSecond) {
        mean_prefill = work.at(now) / rate;
    }
}

Seconds BackendState::slot_wait(Seconds now, Seconds stay, std::uint32_t queued) const {
    if (has_room()) {
        return 0;
    }
    const Seconds turnover = stay / std::max(1U, requests);
    return std::max(turnover, now - room_changed) + turnover * queued;
}

BackendState& Fleet::add(BackendSlot slot) {
    if (slot.index() >= backends_.size()) {
        backends_.resize(slot.index() + 1);
    }
    backends_[slot.index()] = std::make_unique<BackendState>();
    return *backends_[slot.index()];
}

void Fleet::set_slots(BackendSlot slot, std::optional<SlotCache> slots) {
    std::optional<SlotCache>& present = at(slot).slots;
    with_slots_ += slots ? 1U : 0U;
    with_slots_ -= present ? 1U : 0U;
    present = std::move(slots);
}

void Fleet::remove(BackendSlot slot) {
    set_slots(slot, std::nullopt);
    backends_[slot.index()].reset();
    for (const auto& model : models_) {
        if (model) {
            model->prefill.forget(slot);
        }
    }
}

ModelState& Fleet::add_model(ModelId id) {
    if (id.index() >= models_.size()) {
        models_.resize(id.index() + 1);
    }
    models_[id.index()] = std::make_unique<ModelState>();
    return *models_[id.index()];
}

const ModelState* Fleet::find_model(ModelId id) const {
    return id.index() < models_.size() ? models_[id.index()].get() : nullptr;
}

}  // namespace prefix_router::routing
