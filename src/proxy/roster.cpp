#include "prefix_router/proxy/roster.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include <spdlog/spdlog.h>

#include "prefix_router/proxy/url_advice.hpp"

namespace prefix_router::proxy {
namespace {

Error refused(const std::string& id, const std::string& why) {
    return Error(ErrorKind::InvalidConfiguration, "backend " + id + ": " + why);
}

Error too_many(const std::string& source, std::size_t backends) {
    return Error(ErrorKind::InvalidConfiguration,
                 source + " would make it " + std::to_string(backends) +
                     " backends; a router serves at most " + std::to_string(kMaxBackends) +
                     ": name fewer, or divide them among several routers");
}

Error unknown(const std::string& id) {
    return Error(ErrorKind::NoBackend, "there is no backend " + id);
}

/// Fields about which the source has changed its mind are its own again.
void forget_overruled(const config::Backend& before, const config::Backend& after,
                      Roster::Wishes& wishes) {
    if (before.weight != after.weight) {
        wishes.weight.reset();
    }
    if (before.capacity_tokens != after.capacity_tokens) {
        wishes.capacity_tokens.reset();
    }
    if (before.models != after.models) {
        wishes.models.reset();
    }
}

}  // namespace

config::Backend in_force(const Roster::Member& member) {
    config::Backend backend = member.told;
    const Roster::Wishes& wishes = member.wishes;
    backend.weight = wishes.weight.value_or(backend.weight);
    backend.capacity_tokens = wishes.capacity_tokens.value_or(backend.capacity_tokens);
    backend.models = wishes.models.value_or(backend.models);
    return backend;
}

Result<Roster::Change> Roster::replace(const std::string& source,
                                       std::vector<config::Backend> backends) {
    const std::lock_guard lock(writing_);
    return replace_locked(source, std::move(backends), keys_);
}

Result<Roster::Change> Roster::replace_configured(std::vector<config::Backend> backends,
                                                  AskedForKeys keys) {
    const std::lock_guard lock(writing_);
    auto change = replace_locked(std::string(kConfiguration), std::move(backends), keys);
    if (change) {
        keys_ = keys;
    }
    return change;
}

Result<Roster::Change> Roster::add(config::Backend backend) {
    const std::lock_guard lock(writing_);
    if (const auto found = places_.find(backend.id); found != places_.end()) {
        return refused(backend.id, "is there already, from " + found->second.member.source);
    }
    auto backends = told_by(kAdmin);
    backends.push_back(std::move(backend));
    return replace_locked(std::string(kAdmin), std::move(backends), keys_);
}

Result<Roster::Change> Roster::remove(const std::string& id) {
    const std::lock_guard lock(writing_);
    const auto found = places_.find(id);
    if (found == places_.end()) {
        return unknown(id);
    }
    if (found->second.member.source != kAdmin) {
        return refused(id, "comes from " + found->second.member.source +
                               "; remove it there, or drain it here");
    }
    auto backends = told_by(kAdmin);
    std::erase_if(backends, [&](const config::Backend& backend) { return backend.id == id; });
    return replace_locked(std::string(kAdmin), std::move(backends), keys_);
}

Result<void> Roster::set(const std::string& id, const Wishes& wishes) {
    const std::lock_guard lock(writing_);
    const auto found = places_.find(id);
    if (found == places_.end()) {
        return unknown(id);
    }
    Place& place = found->second;
    Member next = place.member;
    if (wishes.weight) {
        next.wishes.weight = wishes.weight;
    }
    if (wishes.capacity_tokens) {
        next.wishes.capacity_tokens = wishes.capacity_tokens;
    }
    if (wishes.models) {
        next.wishes.models = wishes.models;
    }
    RosterStep step;
    step.changing.push_back({place.backend, in_force(next), nullptr});
    desk_.apply(step);
    const std::lock_guard changing(mutex_);
    place.member = std::move(next);
    return boost::system::in_place_value;
}

Result<void> Roster::set_draining(const std::string& id, bool drains) {
    const std::lock_guard lock(writing_);
    const auto found = places_.find(id);
    if (found == places_.end()) {
        return unknown(id);
    }
    desk_.set_draining(found->second.backend, drains);
    const std::lock_guard changing(mutex_);
    found->second.member.wishes.drains = drains;
    return boost::system::in_place_value;
}

std::map<std::string, Roster::Member> Roster::members() const {
    const std::lock_guard lock(mutex_);
    std::map<std::string, Member> members;
    for (const auto& [id, place] : places_) {
        members.emplace(id, place.member);
    }
    return members;
}

std::vector<config::Backend> Roster::told_by(std::string_view source) const {
    std::vector<config::Backend> backends;
    for (const auto& [id, place] : places_) {
        if (place.member.source == source) {
            backends.push_back(place.member.told);
        }
    }
    return backends;
}

Result<Roster::Change> Roster::replace_locked(const std::string& source,
                                              std::vector<config::Backend> backends,
                                              AskedForKeys keys) {
    if (backends.size() > kMaxBackends) {
        return too_many(source, backends.size());
    }
    Plan plan;
    for (config::Backend& backend : backends) {
        if (const auto planned = plan_one(source, std::move(backend), keys, plan); !planned) {
            return planned.error();
        }
    }
    if (const auto planned = plan_others(source, keys, plan); !planned) {
        return planned.error();
    }
    if (plan.places.size() > kMaxBackends) {
        return too_many(source, plan.places.size());
    }
    make_newcomers(plan);
    if (!places_.empty()) {
        wait_for_addresses(plan);
    }
    if (const std::size_t waiting = desk_.apply(plan.step); waiting != 0) {
        spdlog::warn(
            "{}: {} backends wait for the places of removed ones, whose answers have not "
            "ended: a router has {}",
            source, waiting, kMaxBackends);
    }
    const std::lock_guard changing(mutex_);
    places_.swap(plan.places);
    return std::move(plan.change);
}

/// One of the source's own.
Result<void> Roster::plan_one(const std::string& source, config::Backend backend, AskedForKeys keys,
                              Plan& plan) const {
    const std::string id = backend.id;
    if (plan.places.contains(id)) {
        return refused(id, source + " names it twice");
    }
    const auto found = places_.find(id);
    const bool is_known = found != places_.end();
    const bool has_same_url = is_known && found->second.member.told.url == backend.url;
    if (is_known && found->second.member.source != source) {
        const bool is_taken_over = found->second.member.source == kAdmin && has_same_url;
        if (!is_taken_over) {
            return refused(id, "its id is taken by one from " + found->second.member.source + " (" +
                                   found->second.member.told.url.text +
                                   "); give one of them another id, or name it in one place alone");
        }
    }
    if (has_same_url) {
        Member next{source, std::move(backend), found->second.member.wishes};
        forget_overruled(found->second.member.told, next.told, next.wishes);
        return plan_stay(found->second, std::move(next), keys, plan);
    }
    auto access = load_access(backend, keys);
    if (!access) {
        return access.error();
    }
    plan.change.added.push_back(id);
    plan.places.emplace(id, Place{Member{source, backend, {}}, nullptr});
    plan.newcomers.push_back({std::move(backend), std::move(*access)});
    return boost::system::in_place_value;
}

/// Once nothing can fail any more: their series are seen.
void Roster::make_newcomers(Plan& plan) const {
    for (Newcomer& newcomer : plan.newcomers) {
        const config::Backend& spec = newcomer.spec;
        const auto made = std::make_shared<BackendEntry>(spec, std::move(newcomer.access),
                                                         metrics_.backend(spec.id, spec.url.text));
        plan.places.at(spec.id).backend = made;
        plan.step.joining.push_back({spec, made});
        for (const std::string& advice : advice_on({&spec, 1})) {
            spdlog::warn("{}", advice);
        }
    }
}

/// A first lookup is under way since the entry was made. Before it has ended, a whole new set could
/// only be told that nobody is there.
void Roster::wait_for_addresses(Plan& plan) const {
    constexpr std::chrono::milliseconds kLook{5};
    const auto is_unknown = [](const RosterStep::Arrival& arrival) {
        return arrival.backend->address.endpoints()->empty();
    };
    for (auto waited = patience_.zero(); waited < patience_; waited += kLook) {
        if (std::ranges::none_of(plan.step.joining, is_unknown)) {
            return;
        }
        std::this_thread::sleep_for(kLook);
    }
    for (const RosterStep::Arrival& arrival : plan.step.joining) {
        if (is_unknown(arrival)) {
            plan.change.unresolved.push_back(arrival.spec.id);
        }
    }
}

Result<void> Roster::plan_stay(const Place& present, Member next, AskedForKeys keys,
                               Plan& plan) const {
    const config::Backend spec = in_force(next);
    auto access = load_access(spec, keys, &present.backend->access);
    if (!access) {
        return access.error();
    }
    BackendRef entry = present.backend;
    if (access->fingerprint != entry->access.fingerprint) {
        entry = std::make_shared<BackendEntry>(*present.backend, std::move(*access));
    }
    const bool is_dialled_otherwise = entry != present.backend;
    if (is_dialled_otherwise || spec != in_force(present.member)) {
        plan.step.changing.push_back(
            {present.backend, spec, is_dialled_otherwise ? entry : nullptr});
        plan.change.changed.push_back(spec.id);
    }
    plan.places.emplace(spec.id, Place{std::move(next), entry});
    return boost::system::in_place_value;
}

/// What the source no longer names leaves; what others name stays, if dialled otherwise: keys may
/// be asked for now, or not any more, and with the configuration all credentials and certificates
/// are read again.
Result<void> Roster::plan_others(const std::string& source, AskedForKeys keys, Plan& plan) const {
    for (const auto& [id, place] : places_) {
        const auto next = plan.places.find(id);
        if (next != plan.places.end()) {
            const bool is_another = next->second.member.told.url != place.member.told.url;
            if (is_another) {
                plan.step.leaving.push_back(place.backend);
                plan.change.removed.push_back(id);
            }
        } else if (place.member.source == source) {
            plan.step.leaving.push_back(place.backend);
            plan.change.removed.push_back(id);
        } else if (source != kConfiguration) {
            plan.places.emplace(id, place);
        } else if (const auto stays = plan_stay(place, place.member, keys, plan); !stays) {
            return stays.error();
        }
    }
    return boost::system::in_place_value;
}

}  // namespace prefix_router::proxy
