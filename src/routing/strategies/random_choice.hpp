#pragma once

#include "routing/strategies/strategy.hpp"

namespace prefix_router::routing {

/// Any candidate, by weight.
class RandomChoice final : public Strategy {
  public:
    explicit RandomChoice(const View& view) : view_(view) {}
    Choice choose(const Question& question, std::span<const BackendSlot> candidates) override;

  private:
    View view_;
};

}  // namespace prefix_router::routing
