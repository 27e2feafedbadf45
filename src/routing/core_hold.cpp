#include <algorithm>

#include "routing/core.hpp"

namespace prefix_router::routing {
namespace {

constexpr std::size_t kConsidered = 48;  // held requests that choose anew at an event

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
    if (own <= queue_.rules().small || (queue_.size() == 0 && is_open(choice.backend))) {
        send(ticket, choice);
    } else if (queue_.is_full()) {
        refuse(ticket);
    } else {
        hold(ticket, choice.backend, own);
    }
    pump();
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

bool Router::Core::is_open(BackendSlot slot) {
    BackendState& state = fleet_.at(slot);
    state.settle(now_);
    return state.backlog.wait(now_) <= queue_.rules().theta;
}

void Router::Core::pump() {
    while (queue_.size() > 0 && pump_once()) {
    }
}

// One pass over the first held requests in order, each choosing anew behind the ones before it.
// True when one was released: what it changed may release another.
bool Router::Core::pump_once() {
    std::fill(ahead_.begin(), ahead_.end(), 0.0);
    std::size_t considered = 0;
    for (auto it = queue_.order().begin(); it != queue_.order().end() && considered < kConsidered;
         ++considered) {
        Record& record = *it++;
        gather(record, Trials::Forbidden);
        if (candidates_.empty()) {
            queue_.remove(record);
            record.phase = Record::Phase::Admitted;
            refuse(*record.ticket);
            released_.push_back(record.ticket);
            return true;
        }
        Question asked = question(record);
        asked.ahead = ahead_;
        const Choice choice = adaptive_->choose(asked, candidates_);
        if (release(record, choice)) {
            return true;
        }
        const Seconds own = adaptive_->chosen().own;
        ahead_[choice.backend.index()] += own;
        queue_.choose(record, choice.backend, own);
    }
    return false;
}

bool Router::Core::release(Record& record, Choice choice) {
    const Seconds own = adaptive_->chosen().own;
    if (own > queue_.rules().small && !is_open(choice.backend)) {
        return false;
    }
    Ticket& ticket = *record.ticket;
    queue_.remove(record);
    ticket.held_ = from_seconds(now_ - record.arrived);
    send(ticket, choice);
    released_.push_back(&ticket);
    return true;
}

void Router::Core::tick(TimePoint now) {
    begin(now);
    pump();
}

std::vector<Ticket*> Router::Core::take_released() {
    std::vector<Ticket*> out;
    out.swap(released_);
    return out;
}

}  // namespace prefix_router::routing
