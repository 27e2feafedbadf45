#pragma once

#include <vector>

#include "routing/strategies/strategy.hpp"

namespace prefix_router::routing {

/// Smooth weighted round robin, as nginx does it: each turn every candidate gains its weight, the
/// richest is taken and pays the sum. Weights 5, 1, 1 give a a b a c a a, not a a a a a b c.
class RoundRobin final : public Strategy {
  public:
    explicit RoundRobin(const View& view) : view_(view) {}
    Choice choose(const Question& question, std::span<const BackendSlot> candidates) override;
    void forget(BackendSlot slot) override;
    std::vector<double> turns() const override { return credit_; }
    void set_turns(const std::vector<double>& turns) override { credit_ = turns; }

  private:
    View view_;
    std::vector<double> credit_;  // by slot index
};

}  // namespace prefix_router::routing
