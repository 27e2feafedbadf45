// What the desk shows: to the admin listener and in metrics.
#include <algorithm>
#include <iterator>
#include <mutex>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>

#include "prefix_router/proxy/routing_desk.hpp"

namespace prefix_router::proxy {
namespace {

constexpr double kNoWork = 1e-6;  // seconds per second: nothing was sent for a quarter of an hour

BackendCounts counts_of(const BackendMetrics& metrics) {
    BackendCounts counts;
    counts.requests = metrics.requests.Value();
    counts.failures = metrics.failures.Value();
    counts.refusals = metrics.refusals.Value();
    counts.reported_prompt_tokens = metrics.reported_prompt_tokens.Value();
    counts.reported_cached_tokens = metrics.reported_cached_tokens.Value();
    counts.missing_cached_tokens = metrics.missing_cached_tokens.Value();
    counts.unexpected_cached_tokens = metrics.unexpected_cached_tokens.Value();
    counts.saved_prefill = metrics.saved_prefill_seconds.Value();
    return counts;
}

BackendState state_of(const RosterStep::Arrival& waiting) {
    BackendState state;
    state.id = waiting.spec.id;
    state.url = waiting.spec.url.text;
    state.models = waiting.spec.models;
    state.last_error = "waits for the place of a removed backend, whose answers have not ended";
    state.is_draining = waiting.drains;
    state.is_waiting = true;
    state.counts = counts_of(*waiting.backend->metrics);
    return state;
}

}  // namespace

std::size_t RoutingDesk::held() const {
    const std::lock_guard lock(mutex_);
    return router_.held();
}

routing::QueueState RoutingDesk::queue() const {
    const std::lock_guard lock(mutex_);
    return router_.queue();
}

bool RoutingDesk::has_usable_backend() const {
    const std::lock_guard lock(mutex_);
    return pool_.has_usable(clock_.now());
}

std::vector<BackendState> RoutingDesk::states() const {
    const std::lock_guard lock(mutex_);
    const TimePoint now = clock_.now();
    std::vector<BackendState> states;
    for (const BackendSlot slot : pool_.slots()) {
        const pool::Backend& backend = *pool_.find(slot);
        BackendState& state = states.emplace_back();
        state.id = backend.spec.id;
        state.url = backend.spec.url.text;
        for (const ModelId model : backend.models) {
            state.models.emplace_back(pool_.models().name(model));
        }
        state.health = backend.health.state(now);
        state.is_draining = backend.draining;
        state.is_leaving = backend.leaving;
        state.last_error = entries_[slot.index()]->last_trouble();
        state.scraped = backend.scraped;
        state.belief = router_.belief(slot, now);
        state.counts = counts_of(*entries_[slot.index()]->metrics);
        state.counts.saved_prefill += state.belief.saved_prefill - published_saved_[slot.index()];
    }
    std::ranges::transform(waiting_, std::back_inserter(states), state_of);
    return states;
}

std::vector<routing::ExplainedDecision> RoutingDesk::decisions(std::size_t limit) const {
    const std::lock_guard lock(mutex_);
    return router_.explained(limit);
}

std::vector<routing::HotPrefix> RoutingDesk::hot_prefixes(std::size_t limit) const {
    std::vector<routing::MarkedPrompt> prompts;
    {
        const std::lock_guard lock(mutex_);
        prompts = router_.sampled_prompts();
    }
    auto ranked = routing::rank_prefixes(prompts, limit);  // outside the lock: a millisecond
    const std::lock_guard lock(mutex_);
    for (routing::HotPrefix& prefix : ranked) {
        prefix.copies = map_.copies(prefix.hash);
    }
    return ranked;
}

void RoutingDesk::publish() {
    const std::lock_guard lock(mutex_);
    const TimePoint now = clock_.now();
    double work = 0;
    double most_work = 0;
    unsigned usable = 0;
    for (const BackendSlot slot : pool_.slots()) {
        const pool::Backend& backend = *pool_.find(slot);
        const routing::BackendBelief belief = router_.belief(slot, now);
        work += belief.work;
        most_work = std::max(most_work, belief.work);
        usable += !backend.draining && backend.health.is_usable(now) ? 1U : 0U;
        if (backend.leaving && pool_.find(backend.spec.id)) {
            continue;  // the id is another backend's by now
        }
        const BackendMetrics& series = *entries_[slot.index()]->metrics;
        series.in_flight.Set(belief.in_flight);
        series.most_in_flight.Set(belief.max_in_flight.value_or(0));
        series.healthy.Set(!backend.leaving && backend.health.is_usable(now) ? 1 : 0);
        series.backlog_seconds.Set(belief.backlog);
        series.capacity_tokens.Set(static_cast<double>(belief.capacity));
        series.resident_tokens.Set(static_cast<double>(belief.resident));
        series.prefill_rate.Set(belief.prefill_tokens_per_s);
        series.prefill_overhead.Set(belief.overhead);
        series.lanes.Set(belief.lanes);
        publish_saved(slot, belief);
        series.work.Set(belief.work);
        series.foreign.Set(belief.foreign);
        series.running.Set(backend.scraped.running.value_or(0));
        series.waiting.Set(backend.scraped.waiting.value_or(0));
    }
    const routing::QueueState queue = router_.queue();
    for (std::size_t i = 0; i < config::kPriorities; ++i) {
        metrics_.held(static_cast<config::Priority>(i)).Set(static_cast<double>(queue.held[i]));
    }
    metrics_.held_bytes.Set(static_cast<double>(queue.bytes));
    metrics_.busiest_share.Set(work > kNoWork ? most_work / work : 0);
    metrics_.usable_backends.Set(usable);
    metrics_.panic.Set(!pool_.slots().empty() && !pool_.has_usable(now) ? 1 : 0);
    metrics_.map_entries.Set(static_cast<double>(map_.entries()));
    metrics_.map_bytes.Set(static_cast<double>(map_.memory_bytes()));
    metrics_.lock_wait_seconds.Increment(mutex_.waited() - published_waiting_);
    published_waiting_ = mutex_.waited();
}

/// Routing counts from when the backend joined, its series may be older.
void RoutingDesk::publish_saved(BackendSlot slot, const routing::BackendBelief& belief) {
    Seconds& published = published_saved_[slot.index()];
    entries_[slot.index()]->metrics->saved_prefill_seconds.Increment(belief.saved_prefill -
                                                                     published);
    published = belief.saved_prefill;
}

}  // namespace prefix_router::proxy
