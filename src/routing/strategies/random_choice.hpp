#pragma once

#include "routing/strategies/strategy.hpp"

namespace prefix_router::routing {

/// Any candidate, by weight: one of weight 2 is taken twice as often as one of weight 1, whatever
/// is in flight. Looks at neither the prompt nor the load. Owned by the Router's core, which gives
/// it its randomness.
class RandomChoice final : public Strategy {
  public:
    explicit RandomChoice(const View& view) : view_(view) {}
    Choice choose(const Question& question, std::span<const BackendSlot> candidates) override;

  private:
    View view_;
};

}  // namespace prefix_router::routing
