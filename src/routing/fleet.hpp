#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/base/ids.hpp"

#include "routing/backlog.hpp"
#include "routing/learning/answer_times.hpp"
#include "routing/learning/capacity_learner.hpp"
#include "routing/learning/foreign_load.hpp"
#include "routing/learning/lane_learner.hpp"
#include "routing/learning/prefill_model.hpp"
#include "routing/learning/rate_average.hpp"
#include "routing/learning/report_watch.hpp"
#include "routing/learning/token_ratio.hpp"
#include "routing/slot_cache.hpp"

namespace prefix_router::routing {

/// What is believed about one backend, over all its models.
struct BackendState {
    static constexpr std::uint32_t kNoLimit = std::numeric_limits<std::uint32_t>::max();

    Backlog backlog;
    LaneLearner lanes;
    CapacityLearner capacity;
    FlushDetector flush;
    ForeignLoad foreign;
    RateAverage work;  ///< expected prefill sent there, seconds per second
    EngineBlock engine_block;
    std::optional<SlotCache> slots;  ///< instead of the map, where the engine caches so
    SlotsWatch slots_watch;
    bool has_fixed_lanes = false;
    bool has_reported_cached = false;
    Seconds saved_prefill = 0;    ///< by reported cached tokens, at the rates learned
    Tokens scraped_capacity = 0;  ///< the last one seen
    std::uint32_t scraped_slots = 0;
    Tokens awaiting_tokens = 0;      ///< prompts of requests sent whose first byte has not come
    std::uint32_t awaiting = 0;      ///< their sequences
    std::uint32_t seen_returns = 0;  ///< pool::Health::returns() already acted on
    std::uint32_t requests = 0;      ///< in flight
    std::uint32_t most_requests = kNoLimit;
    std::uint32_t passed_over = 0;  ///< held requests taken in a row while lower ones waited
    Seconds room_changed = 0;       ///< when a request last left it, or filled it

    bool has_room() const { return requests < most_requests; }
    /// Expected until it takes one more, behind `queued` others; `stay`: how long a request is in
    /// flight. When none has left for longer than that, as much again: it may be stuck.
    Seconds slot_wait(Seconds now, Seconds stay, std::uint32_t queued) const;

    /// Takes non-streaming answers' prefills as done whose expected time is over.
    void settle(Seconds now);
    /// After any change of the backlog.
    void backlog_changed(Seconds now);
    /// True when a request sent now would find a lane free, or one more should be tried: a backend
    /// that is fed one request at a time would never show that it has two lanes.
    bool has_free_lane() const;
};

/// What is believed about one model, over its fleet.
struct ModelState {
    PrefillModel prefill;
    TokenRatio ratio;
    RateAverage arrivals;
    RateAverage work;
    Seconds decode = 5.0;      ///< mean time from first byte to end
    Seconds mean_prefill = 0;  ///< of a request where it was sent
    AnswerTimes answers;

    /// A request that takes so long to prefill was sent.
    void count(Seconds prefill, Seconds now);
    /// It was not computed after all.
    void take_back(Seconds prefill, Seconds then, Seconds now);
};

/// The learned state by slot and by model. Models come from the pool's table, so it is bounded.
class Fleet {
  public:
    BackendState& add(BackendSlot slot);
    void remove(BackendSlot slot);
    BackendState& at(BackendSlot slot) { return *backends_[slot.index()]; }
    const BackendState& at(BackendSlot slot) const { return *backends_[slot.index()]; }
    bool has(BackendSlot slot) const {
        return slot.index() < backends_.size() && backends_[slot.index()] != nullptr;
    }

    /// Some backend has slots: most fleets have none, and need not look at each backend for them.
    bool has_slots() const { return with_slots_ > 0; }
    void set_slots(BackendSlot slot, std::optional<SlotCache> slots);

    ModelState& model(ModelId id) {
        const bool is_known = id.index() < models_.size() && models_[id.index()] != nullptr;
        return is_known ? *models_[id.index()] : add_model(id);
    }
    const ModelState* find_model(ModelId id) const;
    /// Nothing was learned of it.
    void forget_model(ModelId id) { models_[id.index()].reset(); }

  private:
    ModelState& add_model(ModelId id);

    std::vector<std::unique_ptr<BackendState>> backends_;
    std::vector<std::unique_ptr<ModelState>> models_;
    std::size_t with_slots_ = 0;
};

}  // namespace prefix_router::routing
