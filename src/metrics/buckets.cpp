#include <array>

#include "prefix_router/metrics/metrics.hpp"

namespace prefix_router::metrics {

std::span<const double> latency_buckets() {
    static constexpr std::array kBuckets{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,  1.0,
                                         2.5,   5.0,  10.0,  30.0, 60., 120., 300., 600.};
    return kBuckets;
}

std::span<const double> decision_buckets() {
    static constexpr std::array kBuckets{1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4,
                                         2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2};
    return kBuckets;
}

}  // namespace prefix_router::metrics
