#include "routing/learning/lane_learner.hpp"

#include <algorithm>

namespace prefix_router::routing {
namespace {

constexpr std::size_t kCutAfter = 8;  // completions: long busy periods are judged in pieces
constexpr double kMuchOverlap = 0.6;  // share of the stretch with one more pending than lanes
constexpr double kForget = 0.9;       // per stretch
constexpr double kFewestCompleted = 6;
constexpr double kRaiseAt = 0.6;  // of the next lane's possible work
constexpr double kLowerAt = 0.4;

}  // namespace

void LaneLearner::pending_changed(std::size_t pending, Seconds now) {
    const Seconds elapsed = now - since_;
    const std::size_t levels = std::min(pending_, stretch_.size());
    std::for_each_n(stretch_.begin(), levels, [elapsed](Seconds& time) { time += elapsed; });
    pending_ = pending;
    since_ = now;
    if (pending == 0 || stretch_completed_ >= kCutAfter) {
        close_stretch();
    }
}

void LaneLearner::completed(Seconds expected) {
    stretch_work_ += expected;
    ++stretch_completed_;
}

void LaneLearner::close_stretch() {
    const bool is_telling = !is_spoiled_ && stretch_completed_ >= 2 &&
                            (stretch_[lanes_] >= kMuchOverlap * stretch_[0] ||
                             (lanes_ > 1 && stretch_[lanes_ - 1] >= kMuchOverlap * stretch_[0]));
    if (is_telling) {
        for (std::size_t p = 0; p < times_.size(); ++p) {
            times_[p] = kForget * times_[p] + stretch_[p];
        }
        work_ = kForget * work_ + stretch_work_;
        completed_ = kForget * completed_ + static_cast<double>(stretch_completed_);
        estimate();
    }
    stretch_.fill(0);
    stretch_work_ = 0;
    stretch_completed_ = 0;
    is_spoiled_ = false;
}

void LaneLearner::estimate() {
    if (completed_ < kFewestCompleted) {
        return;
    }
    double possible = times_[0];  // work that `count` lanes could have done
    std::size_t count = 1;
    while (count < kMostLanes && times_[count] > 0.05 * times_[0]) {
        const double threshold = count < lanes_ ? kLowerAt : kRaiseAt;
        if (work_ < possible + threshold * times_[count]) {
            break;
        }
        possible += times_[count];
        ++count;
    }
    // Lanes beyond what was ever pending at once are neither proved nor refuted.
    const bool is_refuted = count >= lanes_ || times_[count] > 0.05 * times_[0];
    lanes_ = is_refuted ? count : lanes_;
}

bool LaneLearner::is_settled() const {
    return completed_ >= kFewestCompleted && lanes_ < times_.size() &&
           times_[lanes_] >= 0.3 * times_[0];
}

}  // namespace prefix_router::routing
