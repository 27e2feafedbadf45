#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/base/random.hpp"
#include "prefix_router/config/config.hpp"
#include "prefix_router/pool/pool.hpp"
#include "prefix_router/prefix/prefix_map.hpp"
#include "prefix_router/proxy/backend_entry.hpp"
#include "prefix_router/proxy/metrics.hpp"
#include "prefix_router/proxy/routing_lock.hpp"
#include "prefix_router/routing/router.hpp"

namespace prefix_router::proxy {

/// Is woken when its held ticket was decided. Called under the routing lock, on any thread: it
/// only leaves a message.
class TicketOwner {
  public:
    virtual void ticket_released() noexcept = 0;

  protected:
    ~TicketOwner() = default;
};

/// What an attempt says about its backend's health (passive health): None for refusals, for
/// requests that their client left, and where the request itself may be the reason (500).
enum class Verdict : std::uint8_t { None, Good, Bad };

/// When an answer's first byte is told: once it is there, or, of one that came whole, by its end.
enum class FirstByte : bool { Apart, WithEnd };

/// What its counters had come to.
struct BackendCounts {
    double requests = 0;
    double failures = 0;
    double refusals = 0;
    double reported_prompt_tokens = 0;
    double reported_cached_tokens = 0;
    double missing_cached_tokens = 0;
    double unexpected_cached_tokens = 0;
    Seconds saved_prefill = 0;
};

/// What the router believes and knows about one backend, for the admin listener.
struct BackendState {
    std::string id;
    std::string url;
    std::vector<std::string> models;
    pool::Health::State health = pool::Health::State::Unknown;
    std::string last_error;  ///< since it last passed a health probe; "": none
    bool is_draining = false;
    bool is_leaving = false;  ///< removed; its last answers end
    bool is_waiting = false;  ///< for the place of one that leaves: in no slot yet
    pool::ScrapedLoad scraped;
    routing::BackendBelief belief;
    BackendCounts counts;
};

/// One step from a set of backends to another; the Roster's.
struct RosterStep {
    struct Alteration {
        BackendRef backend;
        config::Backend spec;
        BackendRef next;  ///< the same backend, dialled otherwise; null: as before
    };
    struct Arrival {
        config::Backend spec;
        BackendRef backend;
        bool drains = false;
    };
    std::vector<Arrival> joining;
    std::vector<BackendRef> leaving;
    std::vector<Alteration> changing;
};

/// The routing state behind one mutex: pool, prefix map and routing::Router, decided and reserved
/// in one short critical section. The only thing that all workers share besides metrics. Ends with
/// nothing held: owners of tickets end them first. Thread-safe.
class RoutingDesk {
  public:
    /// The desk's time is `clock`'s; `random` seeds choices and ties.
    RoutingDesk(const config::Config& config, Metrics& metrics, const Clock& clock, Random random,
                std::size_t kept_decisions = 256);
    ~RoutingDesk();
    RoutingDesk(const RoutingDesk&) = delete;
    RoutingDesk& operator=(const RoutingDesk&) = delete;

    /// What leaves gets no new request, and is gone once nothing is in flight there. What joins has
    /// a place at once, but that a router has kMaxBackends places, those of leavers counted: there
    /// it waits until one is gone. Returns how many wait.
    std::size_t apply(const RosterStep& step);
    /// Health policy, queue and limits, for what comes from now on.
    void reconfigure(const config::Config& config);
    /// An operator's wish; the Roster's, too.
    void set_draining(const BackendRef& backend, bool is_draining);

    // The life of a request. A ticket's decision is read only through these, or after its owner
    // was woken. With Send, `backend` is where.
    struct Placement {
        routing::Decision decision;
        BackendRef backend;
    };
    /// Makes the ticket in `place` and admits it. `owner` may be woken until end().
    Placement admit(std::optional<routing::Ticket>& place, routing::Ask ask, std::string_view model,
                    TicketOwner& owner);
    /// After a wake-up: the ticket's decision now.
    Placement placement(const routing::Ticket& ticket);
    Placement retry(routing::Ticket& ticket, routing::Outcome::Kind why, Verdict verdict);
    void first_byte(routing::Ticket& ticket);
    void end(routing::Ticket& ticket, const routing::Outcome& outcome, Verdict verdict,
             FirstByte first_byte = FirstByte::Apart);

    // The prober's and scraper's side. Backends that leave are not watched, and what was asked of
    // one that is gone says nothing about the one that has its slot now.
    std::vector<BackendRef> backends() const;
    void probed(const BackendRef& asked, bool is_alive);
    void scraped(const BackendRef& asked, const pool::ScrapedLoad& load);
    void report_models(const BackendRef& asked, std::span<const std::string> names);
    /// Re-examines held requests and gives the places of backends that have left to those that
    /// wait; every 50 ms.
    void tick();
    std::size_t held() const;
    routing::QueueState queue() const;
    /// Copies beliefs into gauges.
    void publish();

    // The admin listener's side.
    /// What admit() would decide; changes nothing. `explained.model` is kUnknownModel where no
    /// backend serves the model.
    routing::ExplainedDecision explain(routing::Ask ask, std::string_view model);
    bool has_usable_backend() const;
    std::vector<BackendState> states() const;
    std::vector<routing::ExplainedDecision> decisions(std::size_t limit) const;
    /// The prefixes that most of the last prompts begin with.
    std::vector<routing::HotPrefix> hot_prefixes(std::size_t limit) const;

  private:
    Placement placement_of(const routing::Decision& decision) const;
    pool::Backend* find(const BackendRef& asked);
    void judge(const routing::Ticket& ticket, Verdict verdict);
    void publish_saved(BackendSlot slot, const routing::BackendBelief& belief);
    void wake_released();
    RosterStep::Arrival* find_waiting(const BackendRef& backend);
    void join(const RosterStep::Arrival& arrival);
    void leave(const BackendRef& backend);
    void alter(const RosterStep::Alteration& alteration);
    void let_go(std::vector<BackendRef>& gone);
    void let_in();

    Metrics& metrics_;
    const Clock& clock_;
    mutable RoutingLock mutex_;
    pool::Pool pool_;
    prefix::PrefixMap map_;
    routing::Router router_;
    std::vector<BackendRef> entries_;       // by slot
    std::vector<Seconds> published_saved_;  // by slot
    Seconds published_waiting_ = 0;         // for the lock
    std::size_t leaving_ = 0;
    std::vector<RosterStep::Arrival> waiting_;  // for a place, in order
};

}  // namespace prefix_router::proxy
