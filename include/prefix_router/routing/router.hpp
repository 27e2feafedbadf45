#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/base/error.hpp"
#include "prefix_router/base/ids.hpp"
#include "prefix_router/base/random.hpp"
#include "prefix_router/config/config.hpp"
#include "prefix_router/pool/pool.hpp"
#include "prefix_router/prefix/prefix_map.hpp"
#include "prefix_router/prompt/prompt_key.hpp"
#include "prefix_router/routing/decision.hpp"
#include "prefix_router/routing/prefix_sample.hpp"

namespace prefix_router::routing {

class Router;

/// What a request brings to the decision.
struct Ask {
    prompt::PromptKey key;  ///< moved in; empty: balanced by load
    ModelId model = kUnknownModel;
    std::uint32_t sequences = 1;
    bool streams = false;   ///< false: no first byte before the whole answer
    std::uint64_t id = 0;   ///< the request's number, for /decisions
    std::size_t bytes = 0;  ///< of its body, in memory while it waits
    config::Priority priority = config::Priority::Normal;
    std::uint64_t tenant = 0;           ///< who shares the queue with whom; 0: nobody in particular
    std::optional<TimePoint> deadline;  ///< the answer is of no use when it begins later
};

/// How a sent request ended.
struct Outcome {
    /// Success: 2xx answer whole in HTTP. Refused: 4xx, 429, 503 (the engine is fine). Failed: the
    /// backend broke. ClientLeft: cancelled; what was computed stays cached.
    enum class Kind : std::uint8_t { Success, Refused, Failed, ClientLeft } kind = Kind::Success;
    std::optional<Tokens> reported_prompt;  ///< usage.prompt_tokens
    std::optional<Tokens> reported_cached;  ///< usage.*cached_tokens
    std::optional<Tokens> reported_output;  ///< usage.completion_tokens
    /// The answer's own blocks, continuing the key (empty: no credit). Same units as the key.
    std::span<const std::uint64_t> answer_hashes;
    std::span<const std::uint32_t> answer_ends;
};

/// One request's place in the routing, from admission to its last byte. Owned by the request,
/// address-stable, not copyable; the Router holds pointers to it between admit() and end(). Fields
/// are read by the owner only between calls (under the routing lock or after a wake-up).
class Ticket {
  public:
    explicit Ticket(Ask ask);
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;
    ~Ticket();  ///< asserts nothing: Router::end must have been called when a decision was Send or
                ///< Wait

    const Ask& ask() const { return ask_; }
    const Decision& decision() const { return decision_; }
    Duration held() const { return held_; }  ///< time spent in the queue
    void* owner = nullptr;                   ///< for the caller: whom to wake

    struct Record;  ///< the Router's own bookkeeping

  private:
    friend class Router;
    Ask ask_;
    Decision decision_;
    Duration held_{};
    std::unique_ptr<Record> record_;
};

/// The candidates of one decision with their terms, kept for /decisions.
struct ExplainedDecision {
    std::uint64_t request = 0;
    TimePoint at{};
    ModelId model = kUnknownModel;
    config::Priority priority = config::Priority::Normal;
    std::size_t key_blocks = 0;
    Decision decision;
    Duration held{};
    std::vector<CostTerms> candidates;
};

/// What the router believes about one backend, for metrics and /backends.
struct BackendBelief {
    BackendSlot backend;
    std::uint32_t in_flight = 0;                 ///< sequences
    std::uint32_t requests = 0;                  ///< in flight
    std::optional<std::uint32_t> max_in_flight;  ///< requests
    Seconds backlog = 0;
    Tokens capacity = 0;
    bool capacity_is_learned = false;
    Tokens resident = 0;
    Seconds overhead = 0;             ///< o
    double prefill_tokens_per_s = 0;  ///< P at position 0
    double speed_factor = 1;          ///< its own measured / expected prefill time
    double lanes = 1;
    Seconds saved_prefill = 0;  ///< so far, by cached tokens that engines reported
    double work = 0;            ///< expected prefill sent there lately, seconds per second
    double foreign = 0;         ///< requests there that did not come through this router
};

/// What waits.
struct QueueState {
    std::array<std::size_t, config::kPriorities> held{};  ///< by priority
    std::size_t bytes = 0;                                ///< of their bodies
};

/// The routing core: strategy, cost, learning and queue over one pool and one prefix map. Pure: no
/// I/O, no lock, no clock; the daemon calls it under one mutex, the replay in virtual time. Every
/// call decides and reserves in one step.
///
/// Life of a ticket:   admit -> Send | Wait | Refuse
///   Send:  [retry -> Send | Wait | Refuse]  first_byte  end
///   Wait:  appears in released() after some later call, its decision then being Send or Refuse; or
///   end() cancels it.
class Router {
  public:
    struct Options {
        config::Routing routing;
        config::Queue queue;  ///< max_bytes 0: no limit
        /// Requests in flight at most at a backend whose own entry does not say.
        std::optional<std::uint32_t> max_in_flight;
        /// A backend's KV memory as it is believed until it is told or learned.
        Tokens initial_capacity = 1'000'000;
        bool learn_capacity = true;  ///< false: configured or scraped values are believed for good
        std::size_t kept_decisions = 0;  ///< rings for explained(), sampled_prompts(); 0 = off
    };

    Router(Options options, pool::Pool& pool, prefix::PrefixMap& map, Random random);
    ~Router();
    Router(const Router&) = delete;
    Router& operator=(const Router&) = delete;

    /// Takes over what can change while requests wait: hold, hold_small, the queue's limits for
    /// those that come, max_in_flight.
    void reconfigure(const Options& options, TimePoint now);

    /// A backend was added to the pool (the Router adds it to the map) / is about to be removed
    /// from it (nothing in flight there; the Router removes it from the map).
    void backend_added(BackendSlot slot, TimePoint now);
    void backend_removed(BackendSlot slot);
    /// Its specification in the pool is another than `before`: capacity, lanes and the limit of
    /// requests are taken over where they differ.
    void backend_changed(BackendSlot slot, const config::Backend& before, TimePoint now);
    /// Nothing is in flight there.
    bool is_idle(BackendSlot slot) const;
    /// A scrape came in (pool::Backend::scraped is updated): capacity, foreign load. True when it
    /// tells another capacity than the scrapes before, which is then believed.
    bool backend_scraped(BackendSlot slot, TimePoint now);
    /// Its health went from Ejected back to Healthy: after up to a minute the map is kept with half
    /// the capacity until a report shows cached tokens, after longer it is dropped. Optional: the
    /// Router also notices by itself when the backend is next a candidate.
    void backend_returned(BackendSlot slot, TimePoint now);

    const Decision& admit(Ticket& ticket, TimePoint now);

    /// What admit() would decide now, with every candidate's terms; reserves and remembers nothing.
    ExplainedDecision explain(Ask ask, TimePoint now);

    /// The dispatch failed before the backend took the request, or the engine refused it (429,
    /// 503): undoes map and counts there, never offers that backend again, and takes the next one
    /// in order of preference. Wait: those that are left are all full. Refuse: none is left, or it
    /// may not wait.
    const Decision& retry(Ticket& ticket, Outcome::Kind why, TimePoint now);

    /// The first byte of the answer that counts for TTFT has come.
    void first_byte(Ticket& ticket, TimePoint now);

    /// The request is over, in whatever phase (held ones are dropped from the queue). Exactly once
    /// per admitted ticket.
    void end(Ticket& ticket, const Outcome& outcome, TimePoint now);

    /// Held tickets that were decided during the calls since the last take_released(); the caller
    /// wakes their owners.
    std::vector<Ticket*> take_released();

    /// Re-examines the queue without an event (ageing, lateness); call about every 50 ms while
    /// held() > 0.
    void tick(TimePoint now);
    std::size_t held() const;
    QueueState queue() const;

    BackendBelief belief(BackendSlot slot, TimePoint now) const;
    std::vector<ExplainedDecision> explained(std::size_t limit) const;  ///< newest first
    /// The last prompts sent, for rank_prefixes(); copied in some 20 us.
    std::vector<MarkedPrompt> sampled_prompts() const;
    double bytes_per_token(ModelId model) const;

  private:
    class Core;
    std::unique_ptr<Core> core_;
};

}  // namespace prefix_router::routing
