#include "routing/learning/capacity_learner.hpp"

#include <algorithm>

namespace prefix_router::routing {
namespace {

constexpr double kUp = 0.2;
constexpr double kDown = 0.05;
constexpr double kLeast = 4096;

}  // namespace

void CapacityLearner::start(Tokens believed, Tokens floor) {
    believed_ = static_cast<double>(believed);
    floor_ = std::min(believed_, std::max(kLeast, static_cast<double>(floor)));
    is_learned_ = false;
    is_doubted_ = false;
}

bool CapacityLearner::learn(const Report& report, const DistanceProfile& distances) {
    if (report.actual_blocks > report.expected_blocks) {
        const auto far =
            static_cast<double>(distances.farthest(report.expected_blocks, report.actual_blocks));
        if (far > believed_) {
            believed_ += kUp * (far - believed_);
            is_learned_ = true;
            return true;
        }
    } else if (report.actual_blocks < std::min(report.expected_blocks, report.most_blocks)) {
        const auto near = static_cast<double>(distances.at(report.actual_blocks));
        if (near < believed_) {
            believed_ = std::max(floor_, believed_ - kDown * (believed_ - near));
            is_learned_ = true;
            return true;
        }
    }
    return false;
}

void CapacityLearner::doubt() {
    is_doubted_ = true;
}

bool CapacityLearner::confirm() {
    const bool was_doubted = is_doubted_;
    is_doubted_ = false;
    return was_doubted;
}

Tokens CapacityLearner::believed() const {
    return static_cast<Tokens>(is_doubted_ ? believed_ / 2 : believed_);
}

}  // namespace prefix_router::routing
