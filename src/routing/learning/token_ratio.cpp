#include "routing/learning/token_ratio.hpp"

#include <algorithm>
#include <cmath>

namespace prefix_router::routing {
namespace {

constexpr std::uint64_t kFewestBytes = 1024;
constexpr std::size_t kFewestSamples = 3;

}  // namespace

void TokenRatio::learn(std::uint64_t bytes, Tokens reported) {
    if (bytes < kFewestBytes || reported <= 0) {
        return;
    }
    ratios_.add(std::clamp(static_cast<double>(bytes) / static_cast<double>(reported), 0.5, 16.0));
    if (ratios_.count() < kFewestSamples) {
        return;
    }
    const double median = ratios_.median(used_);
    if (std::abs(median - used_) > 0.03 * used_) {
        used_ = median;
    }
}

}  // namespace prefix_router::routing
