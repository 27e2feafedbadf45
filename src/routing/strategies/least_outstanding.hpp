#pragma once

#include "routing/strategies/strategy.hpp"

namespace prefix_router::routing {

/// Fewest sequences in flight per weight; ties at random. The weights are multiplied across, not
/// divided, so that equal loads compare equal.
BackendSlot least_outstanding(const View& view, std::span<const BackendSlot> candidates);

class LeastOutstanding final : public Strategy {
  public:
    explicit LeastOutstanding(const View& view) : view_(view) {}
    Choice choose(const Question& question, std::span<const BackendSlot> candidates) override;

  private:
    View view_;
};

}  // namespace prefix_router::routing
