#include "routing/learning/capacity_learner.hpp"

#include <algorithm>

namespace prefix_router::routing {
namespace {

constexpr double kUp = 0.2;
constexpr double kDown = 0.05;
constexpr double kDownAtFirst = 0.3;  // more
constexpr double kFirstDenials = 16;
constexpr double kFar = 0.8;  // of the belief
constexpr double kProbe = 1.08;
constexpr int kRefutations = 8;  // in a row
constexpr double kLeast = 4096;

}  // namespace

void CapacityLearner::start(Tokens believed, Source source, Tokens floor) {
    believed_ = static_cast<double>(believed);
    told_ = source == Source::Told ? std::optional(believed) : std::nullopt;
    room_ = told_;
    refutations_ = 0;
    floor_ = std::min(believed_, std::max(kLeast, static_cast<double>(floor)));
    denials_ = 0;
    before_suspicion_.reset();
    may_acquit_ = true;
    is_learned_ = false;
    is_doubted_ = false;
}

bool CapacityLearner::learn(const Report& report, const DistanceProfile& distances) {
    const std::size_t expected = std::min(report.expected_blocks, report.most_blocks);
    if (report.actual_blocks < expected) {
        const auto near = static_cast<double>(distances.at(report.actual_blocks));
        const double gain = kDown + kDownAtFirst / (1 + denials_ / kFirstDenials);
        ++denials_;
        refutations_ = 0;
        return near < believed_ && move_to(believed_ - gain * (believed_ - near));
    }
    const auto far =
        static_cast<double>(distances.farthest(report.expected_blocks, report.actual_blocks));
    if (far > believed_) {
        return rise_to(believed_ + kUp * (far - believed_), far);
    }
    const auto confirmed = static_cast<double>(distances.farthest(0, expected));
    return confirmed > kFar * believed_ && rise_to(believed_ * kProbe, confirmed);
}

bool CapacityLearner::rise_to(double tokens, double seen) {
    if (told_ && seen > static_cast<double>(*told_) && ++refutations_ >= kRefutations) {
        told_.reset();
    }
    const double most = told_ ? std::max(believed_, static_cast<double>(*told_)) : tokens;
    return std::min(tokens, most) > believed_ && move_to(std::min(tokens, most));
}

bool CapacityLearner::holds_at_least(Tokens tokens) {
    if (room_ && tokens > *room_) {
        room_.reset();
    }
    const auto used = static_cast<double>(tokens);
    return used > believed_ && rise_to(used, used);
}

bool CapacityLearner::move_to(double tokens) {
    believed_ = std::max(floor_, tokens);
    is_learned_ = true;
    return true;
}

void CapacityLearner::doubt() {
    is_doubted_ = true;
}

void CapacityLearner::suspect() {
    if (may_acquit_ && !before_suspicion_) {
        before_suspicion_ = {believed_, denials_};
    }
}

bool CapacityLearner::acquit() {
    may_acquit_ = false;
    if (!before_suspicion_) {
        return false;
    }
    believed_ = before_suspicion_->believed;
    denials_ = before_suspicion_->denials;
    before_suspicion_.reset();
    return true;
}

bool CapacityLearner::confirm() {
    before_suspicion_.reset();
    may_acquit_ = true;
    const bool was_doubted = is_doubted_;
    is_doubted_ = false;
    return was_doubted;
}

Tokens CapacityLearner::believed() const {
    return static_cast<Tokens>(is_doubted_ ? believed_ / 2 : believed_);
}

}  // namespace prefix_router::routing
