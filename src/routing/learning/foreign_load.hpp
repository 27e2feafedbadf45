#pragma once

#include <array>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/pool/pool.hpp"

namespace prefix_router::routing {

/// Load on one backend that does not come through this router (another router, a batch job, an
/// engine that computes on after its client left), from scraped queue lengths. What is ours must
/// never be counted twice, and scrapes are old: so from what the engine reports goes the most that
/// was in flight from here since the scrape before the last one, and scrapes that stopped coming
/// say nothing.
/// Example: 10 of ours in flight, 7 a second later when the engine reports 12: 2 are foreign.
class ForeignLoad {
  public:
    /// A request was sent; with it that many of ours are in flight there, so many of them without
    /// their first byte.
    void sent(double in_flight, double awaiting);
    void scraped(const pool::ScrapedLoad& load, double in_flight, double awaiting, Seconds now);

    /// Requests of others that run or wait there.
    double total(Seconds now) const { return is_fresh(now) ? total_ : 0; }
    /// Those of them that wait for their prefill.
    double waiting(Seconds now) const { return is_fresh(now) ? waiting_ : 0; }

  private:
    bool is_fresh(Seconds now) const { return now - scraped_at_ <= 3 * interval_; }

    // The most of ours, by scrape interval: the present one and the last two.
    std::array<double, 3> most_in_flight_{};
    std::array<double, 3> most_awaiting_{};
    double total_ = 0;
    double waiting_ = 0;
    Seconds scraped_at_ = 0;
    Seconds interval_ = 1;
};

}  // namespace prefix_router::routing
