#include "prefix/activity.hpp"

#include <algorithm>

namespace prefix_router::prefix {

void Activity::note(double now, double window, Timeline& timeline) {
    if (!ring_.empty()) {
        const Mark& newest = mark(next_ - 1);
        if (now <= newest.time + window / static_cast<double>(kMarks)) {
            return;
        }
    }
    const Mark added{now, timeline.stamp(timeline.mark())};
    if (ring_.size() < kMarks) {
        ring_.push_back(added);
    } else {
        ring_[next_ % kMarks] = added;
    }
    ++next_;
}

std::size_t Activity::first_since(double from) const {
    std::size_t number = std::clamp(since_, oldest(), next_);
    while (number != oldest() && mark(number - 1).time >= from) {
        --number;  // the window was made longer
    }
    while (number != next_ && mark(number).time < from) {
        ++number;
    }
    return since_ = number;
}

Tokens Activity::tokens_since(double from, const Timeline& timeline) const {
    const std::size_t first = first_since(from);
    return first == next_ ? 0 : timeline.since(timeline.sequence(mark(first).stamp));
}

void Activity::renumber(const Timeline& timeline) {
    for (Mark& mark : ring_) {
        mark.stamp = timeline.stamp(timeline.sequence(mark.stamp));
    }
}

void Activity::clear() {
    ring_.clear();
    next_ = since_ = 0;
}

}  // namespace prefix_router::prefix
