#pragma once

#include <cstddef>
#include <span>

#include <boost/intrusive/set.hpp>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/config/config.hpp"

#include "routing/record.hpp"

namespace prefix_router::routing {

/// The requests held in the router, in the order in which they would be sent: shortest expected
/// prefill first, with ageing. A request's key is own - age * waited; between two requests that
/// difference never changes while they wait, so the order is kept by own + age * arrival and no
/// time passes through it. Nodes live in the records: inserting is O(log n), removing O(1), nothing
/// allocates. Not thread-safe.
/// Example, age 0.1: a request of 2 s that came at 0 goes before one of 1 s that came at 11.
class HoldQueue {
  public:
    using Order = boost::intrusive::multiset<Record>;

    struct Rules {
        bool is_on = true;
        Seconds theta = 0.3;  ///< a backend takes held work while no more than this is before it
        bool is_auto = true;  ///< theta is at least one engine step, where that is known
        Seconds small = 0.8;  ///< requests of at most this own prefill are never held
        double age = 0.1;
        std::size_t limit = 16'384;  ///< held at most; beyond it requests are refused
    };
    static Rules rules(const config::Routing& routing, std::size_t limit);

    explicit HoldQueue(Rules rules) : rules_(rules) {}
    ~HoldQueue() { order_.clear(); }
    HoldQueue(const HoldQueue&) = delete;
    HoldQueue& operator=(const HoldQueue&) = delete;

    const Rules& rules() const { return rules_; }
    bool is_full() const { return size_ >= rules_.limit; }
    std::size_t size() const { return size_; }
    Order& order() { return order_; }

    HoldKey key(Seconds own, Seconds arrived, std::uint64_t order) const {
        return {own + rules_.age * arrived, order};
    }
    void insert(Record& record);
    void remove(Record& record);
    /// The record chose anew: `wants` with an own prefill time of `own`.
    void choose(Record& record, BackendSlot wants, Seconds own);
    /// Adds the work of all held requests that go before `key` to the backends they want.
    void add_ahead(const HoldKey& key, std::span<Seconds> ahead) const;

  private:
    Rules rules_;
    Order order_;
    std::size_t size_ = 0;
};

}  // namespace prefix_router::routing
