#include "routing/learning/median_window.hpp"

#include <algorithm>

namespace prefix_router::routing {

void MedianWindow::add(double sample) {
    if (samples_.size() < size_) {
        samples_.push_back(sample);
    } else {
        samples_[next_] = sample;
    }
    next_ = (next_ + 1) % size_;
}

double MedianWindow::median(double otherwise) const {
    if (samples_.empty()) {
        return otherwise;
    }
    std::vector<double> sorted = samples_;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    return *middle;
}

}  // namespace prefix_router::routing
