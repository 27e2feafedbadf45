#include <algorithm>

#include "routing/core.hpp"

namespace prefix_router::routing {
namespace {

constexpr std::size_t kConsidered = 48;     // held requests that choose anew at an event
constexpr Seconds kFullChoiceEvery = 0.05;  // among all backends; in between, the changed one
// Thousands with one prefix may go once it is believed cached: the next tick sends the rest.
constexpr std::size_t kMostReleased = 64;  // by one event, under the lock
constexpr Seconds kLongestStep = 2;        // a rate learned wrong must not switch the queue off

}  // namespace

bool Router::Core::may_hold() const {
    return adaptive_ != nullptr && queue_.rules().is_on && !is_trial_ && !is_panic_;
}

const Decision& Router::Core::admit_or_hold(Ticket& ticket) {
    Record& record = *ticket.record_;
    Question asked = question(record);
    const Seconds least = adaptive_->survey(asked, candidates_);
    record.key = queue_.key(least, now_, ++admitted_);
    if (queue_.size() > 0) {
        std::fill(ahead_.begin(), ahead_.end(), 0.0);
        queue_.add_ahead(record.key, ahead_);
        asked.ahead = ahead_;
    }
    const Choice choice = adaptive_->decide(asked);
    const Seconds own = adaptive_->chosen().own;
    if (own <= queue_.rules().small ||
        (queue_.size() == 0 && is_open(choice.backend, ticket.ask().model))) {
        send(ticket, choice);
    } else if (queue_.is_full()) {
        return refuse(ticket);
    } else {
        hold(ticket, choice.backend, own);
    }
    pump(choice.backend);
    std::erase(released_, &ticket);  // decided within this call: its owner needs no waking
    return ticket.decision();
}

void Router::Core::hold(Ticket& ticket, BackendSlot wants, Seconds own) {
    Record& record = *ticket.record_;
    record.phase = Record::Phase::Held;
    record.wants = wants;
    record.wants_own = own;
    record.key = queue_.key(own, record.arrived, record.key.order);
    ticket.decision_.action = Action::Wait;
    queue_.insert(record);
}

bool Router::Core::is_open(BackendSlot slot, ModelId model) {
    BackendState& state = fleet_.at(slot);
    state.settle(now_);
    if (state.slots && !state.slots->has_free()) {
        return false;  // bound late, it may find its own prompt's slot free
    }
    return state.backlog.wait(now_) <= theta(slot, model) || state.has_free_lane();
}

// An engine that batches the prefills of one step must not run dry while it computes that step.
// vLLM and SGLang tell its size; llama.cpp and TGI do not, there it is 0.3 s.
Seconds Router::Core::theta(BackendSlot slot, ModelId model) const {
    const HoldQueue::Rules& rules = queue_.rules();
    const Tokens step = pool_.find(slot)->scraped.step.value_or(0);
    const ModelState* learned = fleet_.find_model(model);
    if (!rules.is_auto || step <= 0 || learned == nullptr || !learned->prefill.is_calibrated()) {
        return rules.theta;
    }
    const Seconds computed = learned->prefill.estimate(slot, step, step);
    return std::clamp(computed - learned->prefill.overhead(), rules.theta, kLongestStep);
}

// An event changes one backend, so held requests weigh only that one against their last choice; a
// full choice among all comes at most every 50 ms and before a request is sent: 48 requests times
// 200 backends must not be priced under the lock three times a request.
void Router::Core::pump(std::optional<BackendSlot> changed) {
    if (queue_.size() == 0) {
        return;
    }
    const bool is_due = now_ - full_choice_at_ >= kFullChoiceEvery;
    if (!is_due && !changed) {
        return;
    }
    if (is_due) {
        full_choice_at_ = now_;
        changed.reset();
    }
    std::size_t released = 0;
    do {
        changed = pump_once(changed);
    } while (changed && queue_.size() > 0 && ++released < kMostReleased);
}

// One pass over the first held requests in order, each choosing anew behind the ones before it.
// The backend to which one was released: what that changed may release another.
std::optional<BackendSlot> Router::Core::pump_once(std::optional<BackendSlot> changed) {
    std::fill(ahead_.begin(), ahead_.end(), 0.0);
    std::size_t considered = 0;
    for (auto it = queue_.order().begin(); it != queue_.order().end() && considered < kConsidered;
         ++considered) {
        Record& record = *it++;
        gather_held(record);
        if (candidates_.empty()) {
            release_refused(record);
            continue;
        }
        const Choice choice = choose_held(record, changed);
        const Seconds own = adaptive_->chosen().own;
        if (may_go(choice, record.ticket->ask().model)) {
            release(record, choice);
            return choice.backend;
        }
        ahead_[choice.backend.index()] += own;
        queue_.choose(record, choice.backend, own);
    }
    return std::nullopt;
}

// The same for all held requests of a model within one call: they have no excluded backends.
void Router::Core::gather_held(const Record& record) {
    const ModelId model = record.ticket->ask().model;
    if (gathered_call_ != call_ || gathered_model_ != model) {
        gather(record, Trials::Forbidden);
        std::sort(candidates_.begin(), candidates_.end());  // panic lists the least bad first
        gathered_call_ = call_;
        gathered_model_ = model;
    }
}

Choice Router::Core::choose_held(const Record& record, std::optional<BackendSlot> changed) {
    Question asked = question(record);
    asked.ahead = ahead_;
    const auto is_candidate = [&](BackendSlot slot) {
        return std::binary_search(candidates_.begin(), candidates_.end(), slot);
    };
    if (changed && is_candidate(record.wants)) {
        pair_.assign(1, record.wants);
        if (*changed != record.wants && is_candidate(*changed)) {
            pair_.insert(*changed < record.wants ? pair_.begin() : pair_.end(), *changed);
        }
        const Choice choice = adaptive_->choose(asked, pair_);
        if (!may_go(choice, asked.model)) {
            return choice;
        }
    }
    return adaptive_->choose(asked, candidates_);
}

bool Router::Core::may_go(const Choice& choice, ModelId model) {
    return adaptive_->chosen().own <= queue_.rules().small || is_open(choice.backend, model);
}

void Router::Core::release(Record& record, const Choice& choice) {
    Ticket& ticket = *record.ticket;
    queue_.remove(record);
    ticket.held_ = from_seconds(now_ - record.arrived);
    send(ticket, choice);
    released_.push_back(&ticket);
}

void Router::Core::release_refused(Record& record) {
    queue_.remove(record);
    record.phase = Record::Phase::Admitted;
    record.ticket->held_ = from_seconds(now_ - record.arrived);
    refuse(*record.ticket);
    released_.push_back(record.ticket);
}

void Router::Core::tick(TimePoint now) {
    begin(now);
    pump(std::nullopt);
}

std::vector<Ticket*> Router::Core::take_released() {
    std::vector<Ticket*> out;
    out.swap(released_);
    return out;
}

}  // namespace prefix_router::routing
