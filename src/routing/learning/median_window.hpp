#pragma once

#include <cstddef>
#include <vector>

namespace prefix_router::routing {

/// The median, or another quantile, of the last `size` samples, which are kept in order, too: each
/// comes with a request that then asks for the median. None may be NaN. Not thread-safe.
class MedianWindow {
  public:
    explicit MedianWindow(std::size_t size) : size_(size) {}

    void add(double sample);
    std::size_t count() const { return samples_.size(); }
    /// The upper median; `otherwise` when there are no samples.
    double median(double otherwise) const { return quantile(0.5, otherwise); }
    double quantile(double share, double otherwise) const;
    /// Samples of at most that, and the largest of all (there is one).
    std::ptrdiff_t count_up_to(double sample) const;
    double largest() const { return sorted_.back(); }

  private:
    void replace(double leaving, double coming);

    std::size_t size_;
    std::size_t next_ = 0;
    std::vector<double> samples_;  // a ring
    std::vector<double> sorted_;
};

}  // namespace prefix_router::routing
