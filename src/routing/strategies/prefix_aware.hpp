#pragma once

#include "routing/strategies/strategy.hpp"

namespace prefix_router::routing {

/// SageMaker's PREFIX_AWARE: the same fixed-length prefix goes to the same home backend; when the
/// requests in flight there reach the threshold, to the one with the most free capacity (fewest in
/// flight). Homes are consistent: a change of the pool moves about 1/N of the prefixes.
class PrefixAware final : public Strategy {
  public:
    PrefixAware(const View& view, std::uint32_t threshold) : view_(view), threshold_(threshold) {}
    Choice choose(const Question& question, std::span<const BackendSlot> candidates) override;

  private:
    View view_;
    std::uint32_t threshold_;
};

}  // namespace prefix_router::routing
