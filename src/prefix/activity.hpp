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
    const Mark& mark(std::size_t number) const { return ring_[number % kMarks]; }
    std::size_t oldest() const { return next_ - ring_.size(); }
    /// The oldest mark at or after `from`; next_: none is.
    std::size_t first_since(double from) const;

    std::vector<Mark> ring_;
    std::size_t next_ = 0;           ///< marks are numbered from 0 on
    mutable std::size_t since_ = 0;  ///< what first_since() said last: time moves it on by little
};

}  // namespace prefix_router::prefix
