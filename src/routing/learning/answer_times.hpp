#pragma once

#include "prefix_router/base/clock.hpp"

#include "routing/learning/median_window.hpp"

namespace prefix_router::routing {

/// How long non-streaming answers of one model take from their predicted first byte to their end,
/// over the last 128. They say nothing in between, so this tells how surprising a silence is:
///
///     surprise(t) = -ln P(an answer takes longer than t)
///
/// Beyond the longest answer seen, m, it grows as 4 ln(t / m). Silences of several answers add up:
/// four that are all past the median are as surprising as one past the longest sixteenth. Until
/// eight answers were seen, 30 s are believed normal and more is not.
/// Example, 128 answers of 1 to 128 s: surprise(64) = 0.69, surprise(128) = 5.6.
class AnswerTimes {
  public:
    void add(Seconds taken) { taken_.add(taken); }
    double surprise(Seconds silent) const;

  private:
    MedianWindow taken_{128};
};

}  // namespace prefix_router::routing
