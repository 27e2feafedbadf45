// What admit() would decide, leaving no trace: nothing is reserved, held, learned or remembered,
// and ties and turns fall to the next request as if nobody had asked. Time passes as at any event:
// what is over by now is taken as over.
#include <algorithm>
#include <utility>

#include "routing/core.hpp"

namespace prefix_router::routing {

ExplainedDecision Router::Core::explain(Ask ask, TimePoint now) {
    const Random random = random_;
    const std::vector<double> turns = strategy_->turns();
    begin(now);
    const ModelId model = ask.model;
    const bool is_new_model = fleet_.find_model(model) == nullptr;
    Ticket ticket(std::move(ask));
    Record& record = open(ticket);
    list_candidates(record, Trials::Allowed);
    ExplainedDecision explained;
    if (candidates_.empty()) {
        refuse(ticket, Refusal::NoBackend);
    } else {
        explain_placement(record);
        explained.candidates = explained_terms(ticket.decision());
    }
    explained.at = now;
    explained.model = model;
    explained.priority = ticket.ask().priority;
    explained.key_blocks = ticket.ask().key.size();
    explained.decision = ticket.decision();
    records_.give_back(std::move(ticket.record_));
    if (is_new_model) {
        fleet_.forget_model(model);
    }
    strategy_->set_turns(turns);
    random_ = random;
    return explained;
}

// As place() and choose_and_send().
void Router::Core::explain_placement(Record& record) {
    Ticket& ticket = *record.ticket;
    if (!has_limits_ && !may_hold()) {
        describe(ticket, strategy_->choose(question(record), candidates_));
        return;
    }
    record.key.order = admitted_ + 1;
    const bool is_choosy = adaptive_ != nullptr && !is_trial_ && !is_panic_;
    Wish wish = is_choosy ? wish_behind_held(record) : wish_with_room(record);
    if (!is_choosy && !wish.may_go) {
        wish.choice = strategy_->choose(question(record), candidates_);  // as if one had room
    }
    const bool is_in_time = describe(ticket, wish.choice);
    if (wish.may_go || !is_in_time) {
        return;
    }
    if (const Refusal why = refusal_to_join(record, wish); why != Refusal::None) {
        refuse(ticket, why);
    } else {
        ticket.decision_.action = Action::Wait;
    }
}

// The one it would go to first, then the cheapest. Strategies without a cost give no terms.
std::vector<CostTerms> Router::Core::explained_terms(const Decision& decision) const {
    const auto priced = strategy_->terms();
    std::vector<CostTerms> terms(priced.begin(), priced.end());
    if (terms.empty()) {
        for (const BackendSlot slot : candidates_) {
            terms.emplace_back().backend = slot;
        }
    }
    std::stable_sort(terms.begin(), terms.end(), [&](const CostTerms& a, const CostTerms& b) {
        const bool a_chosen = a.backend == decision.backend;
        const bool b_chosen = b.backend == decision.backend;
        return a_chosen != b_chosen ? a_chosen : a.total < b.total;
    });
    return terms;
}

}  // namespace prefix_router::routing
