#include "routing/learning/median_window.hpp"

#include <algorithm>
#include <span>

#include "prefix_router/base/partition.hpp"

namespace prefix_router::routing {

void MedianWindow::add(double sample) {
    if (samples_.size() < size_) {
        sorted_.insert(sorted_.begin() + count_up_to(sample), sample);
        samples_.push_back(sample);  // last: all of these are among the sorted
    } else {
        replace(samples_[next_], sample);
        samples_[next_] = sample;
    }
    next_ = next_ + 1 == size_ ? 0 : next_ + 1;
}

/// Keeps the order by moving what lies between the sample that leaves and the one that comes.
void MedianWindow::replace(double leaving, double coming) {
    const auto from = sorted_.begin() + count_up_to(leaving) - 1;
    const auto to = sorted_.begin() + count_up_to(coming);
    if (from < to) {
        *std::move(from + 1, to, from) = coming;
    } else {
        std::move_backward(to, from, from + 1);
        *to = coming;
    }
}

std::ptrdiff_t MedianWindow::count_up_to(double sample) const {
    const std::span<const double> sorted = sorted_;
    return static_cast<std::ptrdiff_t>(
        count_leading(sorted, [sample](double each) { return each <= sample; }));
}

double MedianWindow::quantile(double share, double otherwise) const {
    if (sorted_.empty()) {
        return otherwise;
    }
    return sorted_[static_cast<std::size_t>(share * static_cast<double>(sorted_.size()))];
}

}  // namespace prefix_router::routing
