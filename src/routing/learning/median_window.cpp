#include "routing/learning/median_window.hpp"

#include <algorithm>

namespace prefix_router::routing {

void MedianWindow::add(double sample) {
    if (samples_.size() < size_) {
        samples_.push_back(sample);
    } else {
        sorted_.erase(std::lower_bound(sorted_.begin(), sorted_.end(), samples_[next_]));
        samples_[next_] = sample;
    }
    sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), sample), sample);
    next_ = (next_ + 1) % size_;
}

double MedianWindow::quantile(double share, double otherwise) const {
    if (sorted_.empty()) {
        return otherwise;
    }
    return sorted_[static_cast<std::size_t>(share * static_cast<double>(sorted_.size()))];
}

}  // namespace prefix_router::routing
