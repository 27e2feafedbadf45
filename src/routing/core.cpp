#include "routing/core.hpp"

namespace prefix_router::routing {
namespace {

constexpr Duration kShortOutage = std::chrono::seconds(60);

}  // namespace

Router::Core::Core(Options options, pool::Pool& pool, prefix::PrefixMap& map, Random random)
    : options_(std::move(options)),
      pool_(pool),
      map_(map),
      random_(random),
      strategy_(make_strategy(options_.routing, View{pool_, map_, fleet_, random_})),
      adaptive_(dynamic_cast<Adaptive*>(strategy_.get())),
      queue_(HoldQueue::rules(options_.routing, options_.queue)),
      log_(options_.kept_decisions),
      sample_(options_.kept_decisions) {}

void Router::Core::begin(TimePoint now) {
    ++call_;
    at_ = now;
    now_ = to_seconds(now.time_since_epoch());
    map_.tick(now_);
}

void Router::Core::start_capacity(BackendSlot slot, BackendState& state, Tokens believed) {
    const auto configured = pool_.find(slot)->spec.capacity_tokens;
    const bool is_told = configured || state.scraped_capacity > 0;
    state.capacity.start(believed,
                         is_told ? CapacityLearner::Source::Told : CapacityLearner::Source::Guessed,
                         is_told ? believed / 2 : 0);
    map_.set_capacity(slot, state.capacity.believed());
}

void Router::Core::start_limit(BackendSlot slot, BackendState& state) {
    const auto own = pool_.find(slot)->spec.max_in_flight;
    const auto most = own ? own : options_.max_in_flight;
    state.most_requests = most.value_or(BackendState::kNoLimit);
    has_limits_ = has_limits_ || most.has_value();
    is_roomy_current_ = false;
}

Tokens Router::Core::told_capacity(BackendSlot slot) const {
    const pool::Backend& backend = *pool_.find(slot);
    return backend.scraped.capacity.value_or(
        backend.spec.capacity_tokens.value_or(options_.initial_capacity));
}

// The strategy and the pace of ageing stay: requests that wait are ordered by them.
void Router::Core::reconfigure(const Options& options, TimePoint now) {
    begin(now);
    options_.routing.hold = options.routing.hold;
    options_.routing.hold_small = options.routing.hold_small;
    options_.queue = options.queue;
    queue_.set_rules(HoldQueue::rules(options_.routing, options_.queue));
    if (options_.max_in_flight != options.max_in_flight) {
        options_.max_in_flight = options.max_in_flight;
        for (const BackendSlot slot : pool_.slots()) {
            start_limit(slot, fleet_.at(slot));
        }
    }
    pump(std::nullopt);
}

void Router::Core::backend_added(BackendSlot slot) {
    const pool::Backend& backend = *pool_.find(slot);
    BackendState& state = fleet_.add(slot);
    state.seen_returns = backend.health.returns();
    state.has_fixed_lanes = backend.spec.lanes.has_value();
    state.backlog.set_lanes(backend.spec.lanes.value_or(1.0));
    state.scraped_capacity = backend.scraped.capacity.value_or(0);
    const Tokens believed = told_capacity(slot);
    map_.add_backend(slot, believed);
    start_capacity(slot, state, believed);
    start_limit(slot, state);
}

void Router::Core::backend_removed(BackendSlot slot) {
    if (fleet_.has(slot)) {
        fleet_.remove(slot);
        map_.remove_backend(slot);
        strategy_->forget(slot);
        log_.forget(slot);
    }
}

// A capacity that an operator sets is believed until the engine tells another one than before.
void Router::Core::backend_changed(BackendSlot slot, const config::Backend& before, TimePoint now) {
    begin(now);
    const config::Backend& spec = pool_.find(slot)->spec;
    BackendState& state = fleet_.at(slot);
    if (spec.capacity_tokens != before.capacity_tokens) {
        start_capacity(slot, state, spec.capacity_tokens.value_or(told_capacity(slot)));
    }
    if (spec.lanes != before.lanes) {
        state.has_fixed_lanes = spec.lanes.has_value();
        state.backlog.set_lanes(spec.lanes.value_or(1.0));
        state.backlog_changed(now_);
    }
    if (spec.max_in_flight != before.max_in_flight) {
        start_limit(slot, state);
    }
    pump(slot);
}

bool Router::Core::backend_scraped(BackendSlot slot, TimePoint now) {
    begin(now);
    const pool::Backend& backend = *pool_.find(slot);
    const auto capacity = backend.scraped.capacity;
    BackendState& state = fleet_.at(slot);
    const bool is_news = capacity && *capacity > 0 && *capacity != state.scraped_capacity;
    if (is_news) {
        state.scraped_capacity = *capacity;
        start_capacity(slot, state, *capacity);
    }
    const std::uint32_t slots = backend.scraped.slots.value_or(state.scraped_slots);
    if (slots != state.scraped_slots) {
        state.scraped_slots = slots;
        fleet_.set_slots(slot, SlotCache(slots));
    }
    state.foreign.scraped(backend.scraped, backend.in_flight, state.awaiting, now_);
    return is_news;
}

void Router::Core::forget_cache(BackendSlot slot) {
    map_.clear_backend(slot);
    if (auto& slots = fleet_.at(slot).slots) {
        slots->clear();
    }
}

void Router::Core::backend_returned(BackendSlot slot) {
    const pool::Health& health = pool_.find(slot)->health;
    BackendState& state = fleet_.at(slot);
    if (state.seen_returns == health.returns()) {
        return;
    }
    state.seen_returns = health.returns();
    if (health.last_outage() > kShortOutage) {
        forget_cache(slot);
        return;
    }
    state.capacity.doubt();
    map_.set_capacity(slot, state.capacity.believed());
}

BackendBelief Router::Core::belief(BackendSlot slot, TimePoint now) const {
    BackendBelief belief;
    belief.backend = slot;
    const pool::Backend* backend = pool_.find(slot);
    if (backend == nullptr || !fleet_.has(slot)) {
        return belief;
    }
    const BackendState& state = fleet_.at(slot);
    belief.in_flight = backend->in_flight;
    belief.requests = state.requests;
    if (state.most_requests != BackendState::kNoLimit) {
        belief.max_in_flight = state.most_requests;
    }
    belief.backlog = state.backlog.wait(to_seconds(now.time_since_epoch()));
    belief.capacity = state.capacity.believed();
    belief.capacity_is_learned = state.capacity.is_learned();
    belief.resident = map_.resident(slot);
    belief.lanes = state.backlog.lanes();
    belief.saved_prefill = state.saved_prefill;
    belief.work = state.work.at(to_seconds(now.time_since_epoch()));
    belief.foreign = state.foreign.total(to_seconds(now.time_since_epoch()));
    const ModelId model = backend->models.empty() ? kUnknownModel : backend->models.front();
    if (const ModelState* learned = fleet_.find_model(model)) {
        belief.overhead = learned->prefill.overhead();
        belief.speed_factor = learned->prefill.factor(slot);
        belief.prefill_tokens_per_s =
            1.0 / std::max(1e-9, learned->prefill.per_token() * belief.speed_factor);
    }
    return belief;
}

double Router::Core::bytes_per_token(ModelId model) const {
    const ModelState* learned = fleet_.find_model(model);
    return learned != nullptr ? learned->ratio.bytes_per_token() : TokenRatio{}.bytes_per_token();
}

}  // namespace prefix_router::routing
