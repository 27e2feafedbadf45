#include "prefix/activity.hpp"

namespace prefix_router::prefix {

void Activity::note(double now, double window, Timeline& timeline) {
    if (!ring_.empty()) {
        const Mark& newest = mark(ring_.size() - 1);
        if (now <= newest.time + window / static_cast<double>(kMarks)) {
            return;
        }
    }
    const Mark added{now, timeline.stamp(timeline.mark())};
    if (ring_.size() < kMarks) {
        ring_.push_back(added);
        return;
    }
    ring_[oldest_] = added;
    oldest_ = (oldest_ + 1) % kMarks;
}

Tokens Activity::tokens_since(double from, const Timeline& timeline) const {
    std::size_t low = 0;
    std::size_t high = ring_.size();
    while (low < high) {
        const std::size_t middle = (low + high) / 2;
        if (mark(middle).time < from) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == ring_.size()) {
        return 0;
    }
    return timeline.since(timeline.sequence(mark(low).stamp));
}

void Activity::renumber(const Timeline& timeline) {
    for (Mark& mark : ring_) {
        mark.stamp = timeline.stamp(timeline.sequence(mark.stamp));
    }
}

void Activity::clear() {
    ring_.clear();
    oldest_ = 0;
}

}  // namespace prefix_router::prefix
