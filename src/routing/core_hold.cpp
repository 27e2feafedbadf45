#include <algorithm>

#include "routing/core.hpp"

namespace prefix_router::routing {
namespace {

constexpr std::size_t kConsidered = 48;     // held requests that choose anew at an event
constexpr Seconds kFullChoiceEvery = 0.05;  // among all backends; in between, the changed one
// Thousands with one prefix may go once it is believed cached: the next tick sends the rest.
constexpr std::size_t kMostReleased = 64;  // by one event, under the lock
constexpr Seconds kLongestStep = 2;        // a rate learned wrong must not switch the queue off
// Of so many held requests that a backend takes in a row, one is of a lower priority when one
// waits.
constexpr std::uint32_t kTurn = 16;

}  // namespace

bool Router::Core::may_hold() const {
    return adaptive_ != nullptr && queue_.rules().is_on && !is_trial_ && !is_panic_;
}

// A request that may have to wait: for little work before it, or for a backend with room.
const Decision& Router::Core::place(Record& record) {
    Ticket& ticket = *record.ticket;
    if (has_limits_ && with_room().empty() && !queue_.has_room_for(record)) {
        return refuse(ticket, Refusal::QueueFull);  // before anything dear: overload brings many
    }
    record.key.order = ++admitted_;
    const bool is_choosy = adaptive_ != nullptr && !is_trial_ && !is_panic_;
    const Wish wish = is_choosy ? wish_behind_held(record) : wish_with_room(record);
    if (wish.may_go) {
        send(ticket, wish.choice);
    } else if (const Refusal why = may_join(record, wish); why != Refusal::None) {
        return refuse(ticket, why);
    } else {
        hold(record, wish);
    }
    pump(wish.choice.backend);
    std::erase(released_, &ticket);  // decided within this call: its owner needs no waking
    return ticket.decision();
}

Router::Core::Wish Router::Core::wish_behind_held(Record& record) {
    Question asked = question(record);
    const Seconds least = adaptive_->survey(asked, candidates_);
    record.key = queue_.key(least, now_, record.key.order);
    Wish wish;
    if (queue_.size() > 0) {
        clear_ahead();
        wish.before = queue_.add_before(record, ahead_, queued_);
        asked.ahead = ahead_;
        asked.queued = queued_;
    }
    wish.choice = adaptive_->decide(asked);
    wish.own = adaptive_->chosen().own;
    const BackendSlot slot = wish.choice.backend;
    const bool is_unheld = !queue_.rules().is_on || wish.own <= queue_.rules().small;
    wish.may_go = fleet_.at(slot).has_room() &&
                  (is_unheld || (queue_.size() == 0 && is_open(slot, record.ticket->ask().model)));
    return wish;
}

// First come, first served, by any strategy among the backends with room.
Router::Core::Wish Router::Core::wish_with_room(Record& record) {
    const Question asked = question(record);
    record.key = queue_.key(0, record.arrived, record.key.order);
    Wish wish;
    wish.choice.backend = candidates_.front();
    const auto& roomy = with_room();
    if (!roomy.empty()) {
        wish.choice = strategy_->choose(asked, roomy);
        wish.may_go = true;
        return wish;
    }
    const Ask& ask = record.ticket->ask();
    const PrefillModel& prefill = fleet_.model(ask.model).prefill;
    wish.own = ask.key.empty() ? prefill.overhead()
                               : prefill.estimate(wish.choice.backend, record.prompt_tokens,
                                                  record.prompt_tokens);
    if (queue_.size() > 0) {
        clear_ahead();
        wish.before = queue_.add_before(record, ahead_, queued_);
    }
    return wish;
}

void Router::Core::clear_ahead() {
    std::fill(ahead_.begin(), ahead_.end(), 0.0);
    std::fill(queued_.begin(), queued_.end(), 0U);
}

void Router::Core::hold(Record& record, const Wish& wish) {
    record.held_since = now_;
    record.wants = wish.choice.backend;
    record.wants_own = wish.own;
    if (adaptive_ != nullptr) {
        record.key = queue_.key(wish.own, record.arrived, record.key.order);
    }
    queue_.insert(record, now_);
    record.phase = Record::Phase::Held;
    record.ticket->decision_.action = Action::Wait;
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
    clear_ahead();
    HoldPass& walk = queue_.walk();
    for (std::size_t considered = 0; considered < kConsidered;) {
        Record* const record = walk.next().record;
        if (record == nullptr) {
            break;
        }
        gather_held(*record);
        const bool is_blocked = !candidates_.empty() && has_limits_ && with_room().empty();
        if (is_blocked && record->excluded.empty()) {
            walk.skip(record->ticket->ask().model);
            continue;
        }
        ++considered;
        if (candidates_.empty()) {
            release_refused(*record, Refusal::NoBackend);
            continue;
        }
        const Wish wish = is_blocked ? stays(*record) : weigh(*record, changed);
        if (wish.may_go) {
            return release(*record, wish.choice);
        }
        ahead_[wish.choice.backend.index()] += wish.own;
        ++queued_[wish.choice.backend.index()];
        if (adaptive_ != nullptr) {
            queue_.choose(*record, wish.choice.backend, wish.own);
        }
    }
    return std::nullopt;
}

// The same for all held requests of a model within one call, but for those that failed somewhere.
void Router::Core::gather_held(const Record& record) {
    const ModelId model = record.ticket->ask().model;
    const bool is_any = record.excluded.empty();
    if (!is_any || gathered_call_ != call_ || gathered_model_ != model) {
        gather(record, Trials::Forbidden);
        std::sort(candidates_.begin(), candidates_.end());  // panic lists the least bad first
        gathered_call_ = is_any ? call_ : 0;
        gathered_model_ = model;
    }
}

Router::Core::Wish Router::Core::stays(const Record& record) {
    Wish wish;
    wish.choice.backend = record.wants;
    wish.own = record.wants_own;
    return wish;
}

Router::Core::Wish Router::Core::weigh(const Record& record, std::optional<BackendSlot> changed) {
    Wish wish;
    if (adaptive_ == nullptr) {
        const auto& roomy = with_room();
        wish.choice = strategy_->choose(question(record), roomy);
        wish.may_go = true;
        return wish;
    }
    wish.choice = choose_held(record, changed);
    wish.own = adaptive_->chosen().own;
    wish.may_go = may_go(wish.choice, record.ticket->ask().model);
    return wish;
}

Choice Router::Core::choose_held(const Record& record, std::optional<BackendSlot> changed) {
    Question asked = question(record);
    asked.ahead = ahead_;
    asked.queued = queued_;
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
    return fleet_.at(choice.backend).has_room() &&
           (!queue_.rules().is_on || adaptive_->chosen().own <= queue_.rules().small ||
            is_open(choice.backend, model));
}

// Sends it, or one of a lower priority whose turn it is.
BackendSlot Router::Core::release(Record& record, Choice choice) {
    Record* going = &record;
    if (Record* const lower = whose_turn(record, choice.backend)) {
        going = lower;
        gather_held(*lower);
        choice = strategy_->choose(question(*lower), {&choice.backend, 1});
    }
    Ticket& ticket = *going->ticket;
    released_.push_back(&ticket);
    queue_.remove(*going, HoldQueue::Leaves::Sent, now_);
    going->phase = Record::Phase::Admitted;
    ticket.held_ += from_seconds(now_ - going->held_since);
    ticket.decision_.action = Action::Refuse;  // should send() throw
    send(ticket, choice);
    return choice.backend;
}

// Strict between priorities, but for one turn in sixteen at each backend: a share, not an age,
// because aged requests would come in bulk just when the higher ones have to wait.
Record* Router::Core::whose_turn(const Record& record, BackendSlot slot) {
    const config::Priority priority = record.ticket->ask().priority;
    if (queue_.size() == queue_.size_down_to(priority) || is_panic_) {
        return nullptr;
    }
    const pool::Backend& backend = *pool_.find(slot);
    Record* const lower = queue_.first_below(priority, [&](const Record& first) {
        const auto& excluded = first.excluded;
        return backend.serves(first.ticket->ask().model) &&
               std::find(excluded.begin(), excluded.end(), slot) == excluded.end();
    });
    std::uint32_t& passed_over = fleet_.at(slot).passed_over;
    passed_over = lower != nullptr ? passed_over + 1 : 0;
    if (passed_over < kTurn) {
        return nullptr;
    }
    passed_over = 0;
    return lower;
}

void Router::Core::release_refused(Record& record, Refusal why) {
    released_.push_back(record.ticket);
    queue_.remove(record, HoldQueue::Leaves::Unsent, now_);
    record.phase = Record::Phase::Admitted;
    record.ticket->held_ += from_seconds(now_ - record.held_since);
    refuse(*record.ticket, why);
}

void Router::Core::tick(TimePoint now) {
    begin(now);
    while (Record* const late = queue_.expired(now_)) {
        release_refused(*late, late->is_expiry_its_own ? Refusal::Deadline : Refusal::QueueTimeout);
    }
    pump(std::nullopt);
}

std::vector<Ticket*> Router::Core::take_released() {
    std::vector<Ticket*> out;
    out.swap(released_);
    return out;
}

}  // namespace prefix_router::routing
