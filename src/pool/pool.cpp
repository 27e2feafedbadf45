#include "prefix_router/pool/pool.hpp"

#include <algorithm>

#include "prefix_router/base/hash.hpp"

namespace prefix_router::pool {
namespace {

std::vector<ModelId> intern_all(ModelTable& table, std::span<const std::string> names) {
    std::vector<ModelId> ids;
    ids.reserve(names.size());
    for (const std::string& name : names) {
        if (const ModelId id = table.intern(name); id != kUnknownModel) {
            ids.push_back(id);
        }
    }
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
}

}  // namespace

bool Backend::serves(ModelId model) const {
    return models.empty() || std::binary_search(models.begin(), models.end(), model);
}

Pool::Pool(config::Health policy) : policy_(std::move(policy)) {}

void Pool::set_policy(const config::Health& policy) {
    policy_ = policy;
    for (const BackendSlot slot : slots_) {
        by_slot_[slot.index()]->health.set_policy(policy);
    }
}

Result<BackendSlot> Pool::add(const config::Backend& spec) {
    if (find(spec.id)) {
        return Error(ErrorKind::InvalidConfiguration, "backend id '" + spec.id + "' is used twice");
    }
    const auto free = std::find(by_slot_.begin(), by_slot_.end(), nullptr);
    const auto index = static_cast<std::size_t>(free - by_slot_.begin());
    if (index >= kMaxBackends) {
        return Error(ErrorKind::InvalidConfiguration,
                     "more than " + std::to_string(kMaxBackends) + " backends");
    }
    if (free == by_slot_.end()) {
        by_slot_.emplace_back();
    }
    const BackendSlot slot(static_cast<BackendSlot::Value>(index));
    by_slot_[index] = std::make_unique<Backend>(Backend{slot, spec, Health(policy_), false, false,
                                                        intern_all(models_, spec.models), 0,
                                                        ScrapedLoad{}, hash_bytes(spec.id, 0)});
    slots_.insert(std::lower_bound(slots_.begin(), slots_.end(), slot), slot);
    return slot;
}

void Pool::remove(BackendSlot slot) {
    if (find(slot) != nullptr) {
        by_slot_[slot.index()].reset();
        slots_.erase(std::lower_bound(slots_.begin(), slots_.end(), slot));
    }
}

Backend* Pool::find(BackendSlot slot) {
    return slot.index() < by_slot_.size() ? by_slot_[slot.index()].get() : nullptr;
}

const Backend* Pool::find(BackendSlot slot) const {
    return slot.index() < by_slot_.size() ? by_slot_[slot.index()].get() : nullptr;
}

std::optional<BackendSlot> Pool::find(std::string_view id) const {
    for (const BackendSlot slot : slots_) {
        const Backend& backend = *by_slot_[slot.index()];
        if (!backend.leaving && backend.spec.id == id) {
            return slot;
        }
    }
    return std::nullopt;
}

void Pool::change(BackendSlot slot, const config::Backend& spec) {
    Backend& backend = *find(slot);
    const bool are_other_models = backend.spec.models != spec.models;
    backend.spec = spec;
    // Without a list of its own it keeps what was last known until it is asked again.
    if (are_other_models && !spec.models.empty()) {
        backend.models = intern_all(models_, spec.models);
    }
}

void Pool::report_models(BackendSlot slot, std::span<const std::string> names) {
    Backend* backend = find(slot);
    if (backend != nullptr && backend->spec.models.empty()) {
        backend->models = intern_all(models_, names);
    }
}

bool Pool::is_served(ModelId model) const {
    return std::any_of(slots_.begin(), slots_.end(), [&](BackendSlot slot) {
        const Backend& backend = *by_slot_[slot.index()];
        return !backend.leaving &&
               std::binary_search(backend.models.begin(), backend.models.end(), model);
    });
}

void Pool::candidates(ModelId model, TimePoint now, Candidates& out) const {
    out.usable.clear();
    out.trials.clear();
    out.is_panic = false;
    const bool to_all = !is_served(model);
    const auto collect = [&](auto&& accepts, std::vector<BackendSlot>& into) {
        for (const BackendSlot slot : slots_) {
            const Backend& backend = *by_slot_[slot.index()];
            if (!backend.draining && (to_all || backend.serves(model)) && accepts(backend)) {
                into.push_back(slot);
            }
        }
    };
    collect([&](const Backend& backend) { return backend.health.is_usable(now); }, out.usable);
    collect([&](const Backend& backend) { return backend.health.wants_trial(now); }, out.trials);
    if (out.usable.empty()) {
        collect([](const Backend& backend) { return backend.health.is_untested(); }, out.usable);
    }
    if (out.usable.empty()) {
        out.is_panic = true;
        collect([](const Backend&) { return true; }, out.usable);
        std::stable_sort(out.usable.begin(), out.usable.end(), [&](BackendSlot a, BackendSlot b) {
            return by_slot_[a.index()]->health.is_less_bad_than(by_slot_[b.index()]->health);
        });
    }
}

bool Pool::has_usable(TimePoint now) const {
    return std::any_of(slots_.begin(), slots_.end(), [&](BackendSlot slot) {
        const Backend& backend = *by_slot_[slot.index()];
        return !backend.draining && backend.health.is_usable(now);
    });
}

}  // namespace prefix_router::pool
