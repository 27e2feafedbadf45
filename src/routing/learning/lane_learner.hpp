#pragma once

#include <array>
#include <cstddef>

#include "prefix_router/base/clock.hpp"

namespace prefix_router::routing {

/// How many prefills a backend computes side by side at full speed (data-parallel ranks behind one
/// URL), by conservation of work: over a stretch of time in which p(t) requests awaited their first
/// byte, a backend of L lanes completes the integral of min(p, L) seconds of prefill. The order in
/// which it serves them does not matter, so an engine that interleaves prefills on one lane is
/// told apart from one with several. Only stretches with much overlap count (errors of the
/// expected times weigh little there).
/// Example: two requests of 1 s sent together, both answered after 1.0 s: work 2, time with one or
/// more pending 1, with two pending 1, so L = 2. Answered after 1 s and 2 s: work 2, times 2 and 1,
/// L = 1.
class LaneLearner {
  public:
    static constexpr std::size_t kMostLanes = 16;

    /// `pending` requests await their first byte from `now` on.
    void pending_changed(std::size_t pending, Seconds now);
    /// One of them got it, `expected` being its own prefill time. Call before pending_changed().
    void completed(Seconds expected);
    /// Its request was cancelled or failed: the stretch says nothing.
    void spoiled() { is_spoiled_ = true; }

    std::size_t lanes() const { return lanes_; }
    /// Enough was seen at `lanes() + 1` pending to know whether there is one more lane.
    bool is_settled() const;

  private:
    using Times = std::array<double, kMostLanes + 1>;  // [p]: seconds with more than p pending

    void close_stretch();
    void estimate();

    std::size_t lanes_ = 1;
    std::size_t pending_ = 0;
    Seconds since_ = 0;
    Times stretch_{};
    double stretch_work_ = 0;
    std::size_t stretch_completed_ = 0;
    bool is_spoiled_ = false;
    Times times_{};
    double work_ = 0;
    double completed_ = 0;
};

}  // namespace prefix_router::routing
