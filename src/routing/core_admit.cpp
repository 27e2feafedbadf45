#include <algorithm>

#include "routing/chain.hpp"
#include "routing/core.hpp"

namespace prefix_router::routing {

Record& Router::Core::open(Ticket& ticket) {
    ticket.record_ = records_.take();
    Record& record = *ticket.record_;
    const prompt::PromptKey& key = ticket.ask().key;
    const ModelState& model = fleet_.model(ticket.ask().model);
    record.answers = &model.answers;
    const double ratio = key.is_tokens ? 1.0 : model.ratio.bytes_per_token();
    record.ticket = &ticket;
    record.arrived = now_;
    record.streams = ticket.ask().streams;
    record.prompt_tokens = prompt_tokens(key, ratio);
    tokens_of(key.ends, ratio, record.chain_tokens);
    ticket.decision_.prompt_tokens = record.prompt_tokens;
    return record;
}

Question Router::Core::question(const Record& record) const {
    const Ask& ask = record.ticket->ask();
    return {ask.key, record.chain(),     record.prompt_tokens, ask.model,
            now_,    candidates_.size(), candidates_,          {},
            {}};
}

const Decision& Router::Core::admit(Ticket& ticket, TimePoint now) {
    begin(now);
    Record& record = open(ticket);
    gather(record, Trials::Allowed);
    if (candidates_.empty()) {
        return refuse(ticket, Refusal::NoBackend);
    }
    if (has_limits_ || may_hold()) {
        return place(record);
    }
    choose_and_send(ticket);
    return ticket.decision();
}

const Decision& Router::Core::retry(Ticket& ticket, Outcome::Kind why, TimePoint now) {
    begin(now);
    Record& record = *ticket.record_;
    leave_backend(record, leaves(why));
    take_back_work(record);
    withdraw_from_slot(record);
    unpin(record, why);
    record.phase = Record::Phase::Admitted;
    record.excluded.push_back(record.backend);
    gather(record, Trials::Forbidden);
    if (candidates_.empty()) {
        refuse(ticket, Refusal::NoBackend);
    } else if (has_limits_) {
        place_again(record);
    } else {
        choose_and_send(ticket);
    }
    pump(record.excluded.back());
    std::erase(released_, &ticket);
    return ticket.decision();
}

void Router::Core::place_again(Record& record) {
    if (record.key.order == 0) {
        record.key.order = ++admitted_;
    }
    const Wish wish = wish_with_room(record);
    if (wish.may_go) {
        send(*record.ticket, wish.choice);
    } else if (const Refusal why = may_join(record, wish); why != Refusal::None) {
        refuse(*record.ticket, why);
    } else {
        hold(record, wish);
    }
}

void Router::Core::gather(const Record& record, Trials trials) {
    list_candidates(record, trials);
    if (is_trial_ || is_panic_) {
        return;
    }
    for (const BackendSlot slot : candidates_) {
        if (pool_.find(slot)->health.returns() != fleet_.at(slot).seen_returns) {
            backend_returned(slot);
        }
    }
}

void Router::Core::list_candidates(const Record& record, Trials trials) {
    pool_.candidates(record.ticket->ask().model, at_, gathered_);
    const auto is_excluded = [&](BackendSlot slot) {
        return !fleet_.has(slot) || std::find(record.excluded.begin(), record.excluded.end(),
                                              slot) != record.excluded.end();
    };
    is_roomy_current_ = false;
    is_trial_ = trials == Trials::Allowed && !gathered_.trials.empty() &&
                fleet_.has(gathered_.trials.front()) &&
                fleet_.at(gathered_.trials.front()).has_room();
    is_panic_ = gathered_.is_panic && !is_trial_;
    if (is_trial_) {
        candidates_.assign(1, gathered_.trials.front());
        return;
    }
    std::erase_if(gathered_.usable, is_excluded);
    if (is_panic_) {
        pick_panic();
        return;
    }
    candidates_.assign(gathered_.usable.begin(), gathered_.usable.end());
}

// All that are about as little bad as the first: one alone would drown.
void Router::Core::pick_panic() {
    candidates_.clear();
    for (const BackendSlot slot : gathered_.usable) {
        const pool::Health& least_bad = pool_.find(gathered_.usable.front())->health;
        if (pool_.find(slot)->health.is_hardly_worse_than(least_bad)) {
            candidates_.push_back(slot);
        }
    }
}

void Router::Core::choose_and_send(Ticket& ticket) {
    send(ticket, strategy_->choose(question(*ticket.record_), candidates_));
}

// Fills record and decision as for a request that goes there; false, with a refusal, when it would
// come too late.
bool Router::Core::describe(Ticket& ticket, Choice choice) {
    Record& record = *ticket.record_;
    const ModelState& model = fleet_.model(ticket.ask().model);
    BackendState& state = fleet_.at(choice.backend);
    if (adaptive_ != nullptr) {
        record.match = adaptive_->match(choice.backend);
    } else if (state.slots) {
        record.match = state.slots->outlook(record.chain(), now_).match;
    } else if (!ticket.ask().key.empty()) {
        map_.match(record.chain(), {&choice.backend, 1}, matches_);
        record.match = matches_[choice.backend.index()];
    }
    record.backend = choice.backend;
    record.service =
        ticket.ask().key.empty()
            ? model.prefill.overhead()
            : model.prefill.estimate(choice.backend, record.uncached(), record.prompt_tokens);
    state.settle(now_);
    const Tokens block = state.engine_block.size();
    const Tokens cached = std::min(record.match.tokens, record.prompt_tokens - 1);
    const Seconds expected_wait = state.backlog.wait(now_) + record.service;
    if (is_too_late(record, expected_wait)) {
        record.phase = Record::Phase::Admitted;
        refuse(ticket, Refusal::Deadline);
        return false;
    }
    Decision& decision = ticket.decision_;
    decision.action = Action::Send;
    decision.backend = choice.backend;
    decision.reason = !record.excluded.empty() ? Reason::Retried
                      : is_trial_              ? Reason::Trial
                      : is_panic_              ? Reason::Panic
                                               : choice.reason;
    decision.expected_cached = cached / block * block;
    decision.expected_wait = expected_wait;
    return true;
}

void Router::Core::send(Ticket& ticket, Choice choice) {
    if (describe(ticket, choice)) {
        reserve(*ticket.record_, *pool_.find(choice.backend), fleet_.at(choice.backend));
        log_.record(ticket, strategy_->terms(), at_);
        if (ticket.record_->excluded.empty()) {
            sample_.note(ticket.record_->chain());
        }
    }
}

void Router::Core::reserve(Record& record, pool::Backend& backend, BackendState& state) {
    const Ask& ask = record.ticket->ask();
    ModelState& model = fleet_.model(ask.model);
    record.phase = Record::Phase::Prefill;
    record.sent = now_;
    record.first = 0;
    count_awaiting(record, state);
    if (!record.is_counted) {
        record.is_counted = true;
        record.counted_work = record.service;
        record.counted_at = now_;
        model.count(record.service, now_);
    }
    state.work.add(record.service, now_);
    if (is_trial_) {
        record.trial = backend.health.begin_trial(at_);
    }
    note_companions(record, state.backlog);
    state.backlog.push(record, now_);
    state.backlog_changed(now_);
    backend.in_flight += ask.sequences;
    if (++state.requests == state.most_requests) {
        state.room_changed = now_;
    }
    is_roomy_current_ = false;
    state.foreign.sent(backend.in_flight, state.awaiting);
    if (state.slots) {
        record.found_slot = state.slots->has_free();
        state.slots->sent(&record, record.chain(), now_);
    }
    if (ask.key.empty()) {
        return;
    }
    record.distances.clear();
    if (state.has_reported_cached && !state.slots) {
        map_.distances(record.chain(), record.backend, distances_);
        record.distances.assign(distances_);
    }
    map_.touch_and_pin(record.chain(), record.backend, record.match.blocks);
}

void Router::Core::count_awaiting(const Record& record, BackendState& state) {
    state.awaiting_tokens += record.prompt_tokens;
    state.awaiting += record.ticket->ask().sequences;
}

void Router::Core::discount_awaiting(const Record& record, BackendState& state) {
    state.awaiting_tokens -= record.prompt_tokens;
    state.awaiting -= record.ticket->ask().sequences;
}

// A first-byte time tells the prefill time of a request only if it was alone in prefill: on engines
// that interleave, a companion stretches it. A later one of under a tenth of its work is let pass;
// work ahead of it is never: on engines that do not interleave all of that is in the sample. Only
// the first in line can still be alone: the others came when it was there.
void Router::Core::note_companions(Record& record, Backlog& backlog) {
    constexpr double kNegligible = 0.1;
    Backlog::Entry* const first = backlog.first();
    record.is_alone = first == nullptr;
    if (first != nullptr && record.service > kNegligible * first->service) {
        Record::of(*first).is_alone = false;
    }
}

}  // namespace prefix_router::routing
