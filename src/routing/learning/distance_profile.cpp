#include "routing/learning/distance_profile.hpp"

#include <algorithm>

namespace prefix_router::routing {

void DistanceProfile::assign(std::span<const prefix::StackDistance> distances) {
    steps_.clear();
    for (std::size_t k = 0; k < distances.size(); ++k) {
        const prefix::StackDistance distance = distances[k];
        if (steps_.empty() || distance > steps_.back().distance + steps_.back().distance / 64) {
            steps_.push_back({static_cast<std::uint32_t>(k), distance});
        }
        if (distance >= prefix::kNever) {
            return;
        }
    }
    steps_.push_back({static_cast<std::uint32_t>(distances.size()), prefix::kNever});
}

prefix::StackDistance DistanceProfile::at(std::size_t block) const {
    const auto after = std::upper_bound(
        steps_.begin(), steps_.end(), block,
        [](std::size_t wanted, const Step& step) { return wanted < step.from_block; });
    return after == steps_.begin() ? prefix::kNever : std::prev(after)->distance;
}

prefix::StackDistance DistanceProfile::farthest(std::size_t from, std::size_t to) const {
    prefix::StackDistance far = 0;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        const std::size_t end = i + 1 < steps_.size() ? steps_[i + 1].from_block : ~std::size_t{0};
        const bool overlaps = steps_[i].from_block < to && end > from;
        if (overlaps && steps_[i].distance < prefix::kNever) {
            far = std::max(far, steps_[i].distance);
        }
    }
    return far;
}

}  // namespace prefix_router::routing
