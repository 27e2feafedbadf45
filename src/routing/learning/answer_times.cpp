#include "routing/learning/answer_times.hpp"

#include <algorithm>
#include <cmath>

namespace prefix_router::routing {
namespace {

constexpr std::size_t kFewest = 8;
constexpr Seconds kNormalAtFirst = 30;
constexpr double kCertain = 100;
constexpr double kTailIndex = 4;

}  // namespace

// Keeps the order by moving what lies between the sample that leaves and the one that comes.
void AnswerTimes::add(Seconds taken) {
    auto* const begin = sorted_.begin();
    auto* end = begin + count_;
    if (count_ == kSamples) {
        auto* const leaving = std::lower_bound(begin, end, ring_[next_]);
        std::move(leaving + 1, end, leaving);
        --end;
    } else {
        ++count_;
    }
    auto* const place = std::upper_bound(begin, end, taken);
    std::move_backward(place, end, end + 1);
    *place = taken;
    ring_[next_] = taken;
    next_ = (next_ + 1) % kSamples;
}

double AnswerTimes::surprise(Seconds silent) const {
    if (silent <= 0) {
        return 0;
    }
    if (count_ < kFewest) {
        return silent <= kNormalAtFirst ? 0 : kCertain;
    }
    const auto* const end = sorted_.begin() + count_;
    const auto* const longer = std::upper_bound(sorted_.begin(), end, silent);
    const double share =
        (static_cast<double>(end - longer) + 0.5) / (static_cast<double>(count_) + 0.5);
    const Seconds longest = std::max(*(end - 1), 0.001);
    return -std::log(share) + kTailIndex * std::log(std::max(1.0, silent / longest));
}

}  // namespace prefix_router::routing
