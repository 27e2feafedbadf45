#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>

#include <boost/intrusive/set.hpp>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/config/config.hpp"

#include "routing/drain_rate.hpp"
#include "routing/hold_class.hpp"
#include "routing/hold_pass.hpp"
#include "routing/record.hpp"

namespace prefix_router::routing {

/// The requests held in the router, in the order in which they would be sent: by priority, within
/// one fair between tenants (HoldClass), within a tenant the shortest expected prefill first, with
/// ageing. A request's key is own - age * waited; between two requests that difference never
/// changes while they wait, so the order is kept by own + age * arrival and no time passes through
/// it. Bounded by number, by bytes of bodies and by time. Nodes live in the records: inserting and
/// removing are O(log n). Not thread-safe.
/// Example, age 0.1: a request of 2 s that came at 0 goes before one of 1 s that came at 11.
class HoldQueue {
  public:
    static constexpr Seconds kNever = std::numeric_limits<Seconds>::infinity();

    struct Rules {
        bool is_on = true;    ///< long requests wait for a backend with little work before it
        Seconds theta = 0.3;  ///< a backend takes held work while no more than this is before it
        bool is_auto = true;  ///< theta is at least one engine step, where that is known
        Seconds small = 0.8;  ///< requests of at most this own prefill are not held for it
        double age = 0.1;
        std::size_t most_requests = 16'384;
        std::size_t most_bytes = std::numeric_limits<std::size_t>::max();
        std::array<Seconds, config::kPriorities> longest{kNever, kNever, kNever};
    };
    static Rules rules(const config::Routing& routing, const config::Queue& queue);

    explicit HoldQueue(Rules rules) : rules_(rules) {}
    ~HoldQueue() { expiries_.clear(); }
    HoldQueue(const HoldQueue&) = delete;
    HoldQueue& operator=(const HoldQueue&) = delete;

    const Rules& rules() const { return rules_; }
    /// The age must be the same: those that wait are in its order.
    void set_rules(const Rules& rules) { rules_ = rules; }
    std::size_t size() const { return size_; }
    std::size_t size(config::Priority priority) const { return of(priority).size(); }
    /// Held requests of this priority and of higher ones.
    std::size_t size_down_to(config::Priority priority) const;
    std::size_t bytes() const;

    HoldKey key(Seconds own, Seconds arrived, std::uint64_t order) const {
        return {own + rules_.age * arrived, order};
    }
    void insert(Record& record, Seconds now);
    using Leaves = HoldClass::Leaves;
    void remove(Record& record, Leaves leaves, Seconds now);
    /// The record chose anew: `wants` with an own prefill time of `own`.
    void choose(Record& record, BackendSlot wants, Seconds own);

    /// The walk over all held requests; one at a time.
    HoldPass& walk();
    /// Adds the held requests that would go before `newcomer` (not held, with its key) to the
    /// backends they want: their work, their number. Returns how many there are. Looks at the first
    /// few thousand: behind so many it is the same where one stands.
    std::size_t add_before(const Record& newcomer, std::span<Seconds> work,
                           std::span<std::uint32_t> count);

    /// Whether the record fits, or would when requests of lower priority gave way.
    bool has_room_for(const Record& record) const;
    /// Whom to send away before the record fits: the youngest of the lowest priority below its own;
    /// nullptr: it fits. Call has_room_for() before.
    Record* gives_way_to(const Record& record);
    /// One whose time is over; nullptr: none.
    Record* expired(Seconds now);
    /// Of priorities below `priority`, the oldest of those that are first in their line and
    /// accepted; nullptr: none.
    Record* first_below(config::Priority priority,
                        const std::function<bool(const Record&)>& accepts);

    /// Expected until `count` requests have gone to backends; nullopt: nothing tells.
    std::optional<Seconds> time_for(std::size_t count, Seconds now) const {
        return drain_.time_for(count, now);
    }

  private:
    struct ByExpiry {
        bool operator()(const Record& a, const Record& b) const { return a.expires < b.expires; }
    };
    using ExpiryHook = boost::intrusive::member_hook<Record, boost::intrusive::set_member_hook<>,
                                                     &Record::expiry_hook>;

    HoldClass& of(config::Priority priority) {
        return classes_[static_cast<std::size_t>(priority)];
    }
    const HoldClass& of(config::Priority priority) const {
        return classes_[static_cast<std::size_t>(priority)];
    }
    bool fits(const Record& record, std::size_t fewer, std::size_t fewer_bytes) const;

    Rules rules_;
    HoldClasses classes_;
    HoldPass pass_;
    boost::intrusive::multiset<Record, ExpiryHook, boost::intrusive::compare<ByExpiry>> expiries_;
    DrainRate drain_;
    std::size_t size_ = 0;
};

}  // namespace prefix_router::routing
