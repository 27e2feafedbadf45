#include "prefix_router/proxy/routing_desk.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <spdlog/spdlog.h>

namespace prefix_router::proxy {
namespace {

routing::Router::Options router_options(const config::Config& config, std::size_t kept_decisions) {
    routing::Router::Options options;
    options.routing = config.routing;
    options.queue = config.queue;
    if (options.queue.max_bytes == 0) {
        options.queue.max_bytes =
            std::max(config.limits.body_bytes, config.limits.buffered_bytes / 2);
    }
    options.max_in_flight = config.limits.max_in_flight_per_backend;
    options.kept_decisions = kept_decisions;
    return options;
}

prefix::PrefixMap::Options map_options(const config::Config& config) {
    prefix::PrefixMap::Options options;
    options.memory_bytes = config.limits.prefix_map_bytes;
    return options;
}

}  // namespace

RoutingDesk::RoutingDesk(const config::Config& config, Metrics& metrics, const Clock& clock,
                         Random random, std::size_t kept_decisions)
    : metrics_(metrics),
      clock_(clock),
      mutex_(clock),
      pool_(config.health),
      map_(map_options(config)),
      router_(router_options(config, kept_decisions), pool_, map_, random) {}

RoutingDesk::~RoutingDesk() = default;

void RoutingDesk::reconfigure(const config::Config& config) {
    const std::lock_guard lock(mutex_);
    pool_.set_policy(config.health);
    router_.reconfigure(router_options(config, 0), clock_.now());
    wake_released();
}

RoutingDesk::Placement RoutingDesk::admit(std::optional<routing::Ticket>& place, routing::Ask ask,
                                          std::string_view model, TicketOwner& owner) {
    const std::lock_guard lock(mutex_);
    ask.model = pool_.models().find(model);
    routing::Ticket& ticket = place.emplace(std::move(ask));
    ticket.owner = &owner;
    const routing::Decision decision = router_.admit(ticket, clock_.now());
    wake_released();
    return placement_of(decision);
}

routing::ExplainedDecision RoutingDesk::explain(routing::Ask ask, std::string_view model) {
    const std::lock_guard lock(mutex_);
    ask.model = pool_.models().find(model);
    return router_.explain(std::move(ask), clock_.now());
}

RoutingDesk::Placement RoutingDesk::placement(const routing::Ticket& ticket) {
    const std::lock_guard lock(mutex_);
    return placement_of(ticket.decision());
}

RoutingDesk::Placement RoutingDesk::retry(routing::Ticket& ticket, routing::Outcome::Kind why,
                                          Verdict verdict) {
    const std::lock_guard lock(mutex_);
    judge(ticket, verdict);
    const routing::Decision decision = router_.retry(ticket, why, clock_.now());
    wake_released();
    return placement_of(decision);
}

void RoutingDesk::first_byte(routing::Ticket& ticket) {
    const std::lock_guard lock(mutex_);
    router_.first_byte(ticket, clock_.now());
    wake_released();
}

void RoutingDesk::end(routing::Ticket& ticket, const routing::Outcome& outcome, Verdict verdict,
                      FirstByte first_byte) {
    const std::lock_guard lock(mutex_);
    const TimePoint now = clock_.now();
    if (first_byte == FirstByte::WithEnd) {
        router_.first_byte(ticket, now);
    }
    judge(ticket, verdict);
    router_.end(ticket, outcome, now);
    wake_released();
}

std::vector<BackendRef> RoutingDesk::backends() const {
    const std::lock_guard lock(mutex_);
    std::vector<BackendRef> present;
    for (const BackendSlot slot : pool_.slots()) {
        if (!pool_.find(slot)->leaving) {
            present.push_back(entries_[slot.index()]);
        }
    }
    return present;
}

/// Null when it is gone, or dialled otherwise by now.
pool::Backend* RoutingDesk::find(const BackendRef& asked) {
    const std::size_t index = asked->slot.index();
    const bool is_present = index < entries_.size() && entries_[index] == asked;
    return is_present ? pool_.find(asked->slot) : nullptr;
}

void RoutingDesk::probed(const BackendRef& asked, bool is_alive) {
    const std::lock_guard lock(mutex_);
    pool::Backend* const backend = find(asked);
    if (backend == nullptr) {
        return;
    }
    const TimePoint now = clock_.now();
    if (is_alive) {
        backend->health.probe_succeeded(now);
        router_.backend_returned(asked->slot, now);
    } else {
        backend->health.probe_failed(now);
    }
    wake_released();
}

void RoutingDesk::scraped(const BackendRef& asked, const pool::ScrapedLoad& load) {
    std::optional<Tokens> overruled;
    {
        const std::lock_guard lock(mutex_);
        pool::Backend* const backend = find(asked);
        if (backend == nullptr) {
            return;
        }
        backend->scraped = load;
        if (router_.backend_scraped(asked->slot, clock_.now())) {
            overruled = backend->spec.capacity_tokens;
        }
        wake_released();
    }
    if (overruled && *overruled != load.capacity) {
        spdlog::warn("backend {}: capacity_tokens is {}, but its engine reports {}, which counts",
                     asked->id, *overruled, *load.capacity);
    }
}

void RoutingDesk::report_models(const BackendRef& asked, std::span<const std::string> names) {
    const std::lock_guard lock(mutex_);
    if (find(asked) != nullptr) {
        pool_.report_models(asked->slot, names);
    }
}

void RoutingDesk::tick() {
    std::vector<BackendRef> gone;
    const std::lock_guard lock(mutex_);
    let_go(gone);
    let_in();
    if (router_.held() != 0) {
        router_.tick(clock_.now());
    }
    wake_released();  // an exception may have kept some
}

RoutingDesk::Placement RoutingDesk::placement_of(const routing::Decision& decision) const {
    Placement placement;
    placement.decision = decision;
    if (decision.action == routing::Action::Send) {
        placement.backend = entries_[decision.backend.index()];
    }
    return placement;
}

void RoutingDesk::judge(const routing::Ticket& ticket, Verdict verdict) {
    if (verdict == Verdict::None || ticket.decision().action != routing::Action::Send) {
        return;
    }
    if (pool::Backend* const backend = pool_.find(ticket.decision().backend)) {
        const TimePoint now = clock_.now();
        if (verdict == Verdict::Good) {
            backend->health.request_succeeded(now);
        } else {
            backend->health.request_failed(now);
        }
    }
}

void RoutingDesk::wake_released() {
    // Under the lock, so that an owner that ends its ticket now waits until it was told.
    for (routing::Ticket* const ticket : router_.take_released()) {
        static_cast<TicketOwner*>(ticket->owner)->ticket_released();
    }
}

}  // namespace prefix_router::proxy
