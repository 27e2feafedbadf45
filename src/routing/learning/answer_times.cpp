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

double AnswerTimes::surprise(Seconds silent) const {
    if (silent <= 0) {
        return 0;
    }
    if (taken_.count() < kFewest) {
        return silent <= kNormalAtFirst ? 0 : kCertain;
    }
    const auto count = static_cast<double>(taken_.count());
    const double longer = count - static_cast<double>(taken_.count_up_to(silent));
    const double share = (longer + 0.5) / (count + 0.5);
    const Seconds longest = std::max(taken_.largest(), 0.001);
    return -std::log(share) + kTailIndex * std::log(std::max(1.0, silent / longest));
}

}  // namespace prefix_router::routing
