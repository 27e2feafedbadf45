#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "prefix_router/routing/prefix_sample.hpp"
#include "prefix_router/routing/router.hpp"

#include "routing/decision_log.hpp"
#include "routing/fleet.hpp"
#include "routing/hold_queue.hpp"
#include "routing/record.hpp"
#include "routing/record_pool.hpp"
#include "routing/strategies/adaptive.hpp"
#include "routing/strategies/strategy.hpp"

namespace prefix_router::routing {

/// What the Router is made of. Its calls fall into six files: core.cpp (backends, beliefs),
/// core_admit.cpp (choose and reserve), core_hold.cpp (the queue), core_limits.cpp (who may wait,
/// and for how long), core_settle.cpp (first byte, end, undo, what is learned from them),
/// core_explain.cpp (admit() without a trace). Invariant
/// between calls: a record is in its backend's backlog, pins and in-flight count exactly while its
/// phase is Prefill or Decode, and in the queue exactly while it is Held.
class Router::Core {
  public:
    Core(Options options, pool::Pool& pool, prefix::PrefixMap& map, Random random);

    void reconfigure(const Options& options, TimePoint now);
    void backend_added(BackendSlot slot);
    void backend_removed(BackendSlot slot);
    void backend_changed(BackendSlot slot, const config::Backend& before, TimePoint now);
    bool is_idle(BackendSlot slot) const { return fleet_.at(slot).requests == 0; }
    bool backend_scraped(BackendSlot slot, TimePoint now);
    void backend_returned(BackendSlot slot);

    const Decision& admit(Ticket& ticket, TimePoint now);
    ExplainedDecision explain(Ask ask, TimePoint now);
    const Decision& retry(Ticket& ticket, Outcome::Kind why, TimePoint now);
    void first_byte(Ticket& ticket, TimePoint now);
    void end(Ticket& ticket, const Outcome& outcome, TimePoint now);
    void tick(TimePoint now);

    std::vector<Ticket*> take_released();
    std::size_t held() const { return queue_.size(); }
    QueueState queue() const;
    BackendBelief belief(BackendSlot slot, TimePoint now) const;
    std::vector<ExplainedDecision> explained(std::size_t limit) const { return log_.newest(limit); }
    std::vector<MarkedPrompt> sampled_prompts() const { return sample_.prompts(); }
    double bytes_per_token(ModelId model) const;

  private:
    enum class Trials : std::uint8_t { Allowed, Forbidden };

    /// Where a request would go, and whether it may go there now.
    struct Wish {
        Choice choice;
        Seconds own = 0;
        bool may_go = false;
        std::size_t before = 0;  ///< held requests that would go before it
    };

    /// A refusal, too, is an answer: the backend is alive.
    static Backlog::Leaves leaves(Outcome::Kind kind) {
        const bool is_answered = kind == Outcome::Kind::Success || kind == Outcome::Kind::Refused;
        return is_answered ? Backlog::Leaves::Answered : Backlog::Leaves::Unanswered;
    }

    // core.cpp
    void start_capacity(BackendSlot slot, BackendState& state, Tokens believed);
    void start_limit(BackendSlot slot, BackendState& state);
    Tokens told_capacity(BackendSlot slot) const;
    void begin(TimePoint now);

    // core_admit.cpp
    Record& open(Ticket& ticket);
    Question question(const Record& record) const;
    void gather(const Record& record, Trials trials);
    void list_candidates(const Record& record, Trials trials);
    void pick_panic();
    void choose_and_send(Ticket& ticket);
    void place_again(Record& record);
    bool describe(Ticket& ticket, Choice choice);
    void send(Ticket& ticket, Choice choice);
    static void count_awaiting(const Record& record, BackendState& state);
    static void discount_awaiting(const Record& record, BackendState& state);
    void reserve(Record& record, pool::Backend& backend, BackendState& state);
    void note_companions(Record& record, Backlog& backlog);

    // core_hold.cpp
    bool may_hold() const;
    const Decision& place(Record& record);
    Wish wish_behind_held(Record& record);
    Wish wish_with_room(Record& record);
    void clear_ahead();
    void hold(Record& record, const Wish& wish);
    bool is_open(BackendSlot slot, ModelId model);
    Seconds theta(BackendSlot slot, ModelId model) const;
    void pump(std::optional<BackendSlot> changed);
    std::optional<BackendSlot> pump_once(std::optional<BackendSlot> changed);
    void gather_held(const Record& record);
    static Wish stays(const Record& record);
    Wish weigh(const Record& record, std::optional<BackendSlot> changed);
    Choice choose_held(const Record& record, std::optional<BackendSlot> changed);
    bool may_go(const Choice& choice, ModelId model);
    BackendSlot release(Record& record, Choice choice);
    Record* whose_turn(const Record& record, BackendSlot slot);
    void release_refused(Record& record, Refusal why);

    // core_limits.cpp
    const std::vector<BackendSlot>& with_room();
    Refusal refusal_to_join(Record& record, const Wish& wish);
    Refusal may_join(Record& record, const Wish& wish);
    bool is_wait_hopeless(const Record& record, const Wish& wish) const;
    bool is_too_late(const Record& record, Seconds expected) const;
    const Decision& refuse(Ticket& ticket, Refusal why);

    // core_explain.cpp
    void explain_placement(Record& record);
    std::vector<CostTerms> explained_terms(const Decision& decision) const;

    // core_settle.cpp
    void leave_slot(const Record& record, const prefix::Chain& content);
    void withdraw_from_slot(const Record& record);
    void conclude(Record& record, const Outcome& outcome);
    void leave_backend(Record& record, Backlog::Leaves leaves);
    void unpin(const Record& record, Outcome::Kind why);
    void count_beside(const Record& record, const Outcome& outcome, Tokens mapped);
    void take_back_work(const Record& record);
    void discount(Record& record);
    void remember_answer(const Record& record, const Outcome& outcome);
    void learn(const Record& record, const Outcome& outcome);
    void count_saved(const Record& record, Tokens prompt, Tokens cached);
    void learn_slots(const Record& record, Tokens prompt, Tokens cached);
    void forget_cache(BackendSlot slot);
    void learn_cache(const Record& record, Tokens prompt, Tokens cached);

    Options options_;
    pool::Pool& pool_;
    prefix::PrefixMap& map_;
    Random random_;
    Fleet fleet_;
    std::unique_ptr<Strategy> strategy_;
    Adaptive* adaptive_ = nullptr;  // the strategy, when it is that one
    HoldQueue queue_;
    DecisionLog log_;
    PrefixSample sample_;
    RecordPool records_;
    std::vector<Ticket*> released_;
    bool has_limits_ = false;  // some backend takes so many requests and no more

    // One call's state: its time and who may get the request at hand.
    TimePoint at_{};
    Seconds now_ = 0;
    std::uint64_t call_ = 0;
    std::uint64_t admitted_ = 0;
    pool::Pool::Candidates gathered_;
    std::vector<BackendSlot> candidates_;
    std::vector<BackendSlot> roomy_;  // of them, those with room
    bool is_roomy_current_ = false;
    bool is_panic_ = false;
    bool is_trial_ = false;
    std::uint64_t gathered_call_ = 0;  // of gather_held()
    ModelId gathered_model_;
    std::vector<BackendSlot> pair_;
    Seconds full_choice_at_ = 0;
    // By slot: held work, and held requests, that go before the one at hand.
    std::vector<Seconds> ahead_ = std::vector<Seconds>(kMaxBackends);
    std::vector<std::uint32_t> queued_ = std::vector<std::uint32_t>(kMaxBackends);
    std::vector<std::uint64_t> answer_hashes_;
    std::vector<std::uint32_t> answer_tokens_;
    std::vector<prefix::StackDistance> distances_;
    std::vector<prefix::Match> matches_ = std::vector<prefix::Match>(kMaxBackends);
};

}  // namespace prefix_router::routing
