// The limits: of requests in flight at a backend, of the queue, of a request's time.
#include <algorithm>
#include <iterator>

#include "routing/core.hpp"

namespace prefix_router::routing {

/// Those of the gathered backends that take one more request.
const std::vector<BackendSlot>& Router::Core::with_room() {
    if (!has_limits_) {
        return candidates_;
    }
    if (is_roomy_current_) {
        return roomy_;
    }
    is_roomy_current_ = true;
    roomy_.clear();
    std::copy_if(candidates_.begin(), candidates_.end(), std::back_inserter(roomy_),
                 [&](BackendSlot slot) { return fleet_.at(slot).has_room(); });
    return roomy_;
}

// Whether a request that cannot go now may wait.
Refusal Router::Core::refusal_to_join(Record& record, const Wish& wish) {
    const Ask& ask = record.ticket->ask();
    const Seconds longest = queue_.rules().longest[static_cast<std::size_t>(ask.priority)];
    record.expires = record.arrived + longest;
    record.is_expiry_its_own = false;
    if (ask.deadline) {
        const Seconds deadline = to_seconds(ask.deadline->time_since_epoch());
        record.is_expiry_its_own = deadline < record.expires;
        record.expires = std::min(deadline, record.expires);
    }
    const Refusal late = record.is_expiry_its_own ? Refusal::Deadline : Refusal::QueueTimeout;
    if (record.expires <= now_ || is_wait_hopeless(record, wish)) {
        return late;
    }
    return queue_.has_room_for(record) ? Refusal::None : Refusal::QueueFull;
}

// The same, and then lower priorities give way.
Refusal Router::Core::may_join(Record& record, const Wish& wish) {
    if (const Refusal why = refusal_to_join(record, wish); why != Refusal::None) {
        return why;
    }
    while (Record* const youngest = queue_.gives_way_to(record)) {
        release_refused(*youngest, Refusal::Displaced);
    }
    return Refusal::None;
}

// The expected wait is a guess at how others will go: only when even half of it is too long is it
// certain enough to turn a request away that has not waited at all.
bool Router::Core::is_wait_hopeless(const Record& record, const Wish& wish) const {
    const auto wait = queue_.time_for(wish.before + 1, now_);
    return wait && now_ + *wait / 2 > record.expires;
}

/// Its answer, should it be sent now, is expected to begin after its deadline.
bool Router::Core::is_too_late(const Record& record, Seconds expected) const {
    const auto& deadline = record.ticket->ask().deadline;
    if (!deadline) {
        return false;
    }
    const ModelState* learned = fleet_.find_model(record.ticket->ask().model);
    const bool is_known = learned != nullptr && learned->prefill.is_calibrated();
    return now_ + (is_known ? expected : 0) >= to_seconds(deadline->time_since_epoch());
}

const Decision& Router::Core::refuse(Ticket& ticket, Refusal why) {
    Decision& decision = ticket.decision_;
    decision.action = Action::Refuse;
    decision.refusal = why;
    const auto wait = queue_.time_for(queue_.size_down_to(ticket.ask().priority), now_);
    decision.retry_after = why == Refusal::NoBackend ? 0 : wait.value_or(0);
    return decision;
}

QueueState Router::Core::queue() const {
    QueueState state;
    for (std::size_t i = 0; i < config::kPriorities; ++i) {
        state.held[i] = queue_.size(static_cast<config::Priority>(i));
    }
    state.bytes = queue_.bytes();
    return state;
}

}  // namespace prefix_router::routing
