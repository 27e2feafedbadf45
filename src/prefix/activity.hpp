#pragma once

#include <cstddef>
#include <vector>

#include "prefix/timeline.hpp"

namespace prefix_router::prefix {

/// Where in a backend's timeline each recent stretch of time began: a ring of (time, stamp) marks,
/// at least window / 256 apart. A touch belongs to the newest mark.
class Activity {
  public:
    /// Before a touch: marks the timeline when the last mark is old enough.
    void note(double now, double window, Timeline& timeline);
    /// Distinct tokens touched since `from`.
    Tokens tokens_since(double from, const Timeline& timeline) const;
    /// After Timeline::renumber(): rewrites the marks.
    void renumber(const Timeline& timeline);
    void clear();
    std::size_t bytes() const { return ring_.capacity() * sizeof(Mark); }

  private:
    static constexpr std::size_t kMarks = 256;
    struct Mark {
        double time = 0;
        Timeline::Stamp stamp = 0;
    };
    const Mark& mark(std::size_t age_order) const {
        return ring_[(oldest_ + age_order) % ring_.size()];
    }

    std::vector<Mark> ring_;
    std::size_t oldest_ = 0;
};

}  // namespace prefix_router::prefix
