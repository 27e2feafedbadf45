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

double MedianWindow::quantile(double share, double otherwise) const {
    if (samples_.empty()) {
        return otherwise;
    }
    std::vector<double> sorted = samples_;
    const auto rank = static_cast<std::ptrdiff_t>(share * static_cast<double>(sorted.size()));
    std::nth_element(sorted.begin(), sorted.begin() + rank, sorted.end());
    return sorted[static_cast<std::size_t>(rank)];
}

}  // namespace prefix_router::routing
