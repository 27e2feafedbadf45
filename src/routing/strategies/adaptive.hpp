#pragma once

#include <vector>

#include "routing/strategies/strategy.hpp"

namespace prefix_router::routing {

/// The cheapest backend by cost (routing/cost.hpp). On an idle fleet costs within 2 % or 5 ms of
/// the least are a tie: the longer match wins, then rendezvous by the key's home, so that several
/// routers, or one after a restart, agree. Under load only equal costs are a tie: there the small
/// differences say which cache has room, and passing over them cost 36 % on agents (ADR 0005).
/// Works in two steps, because the queue needs the own prefill times before it knows what is ahead:
/// survey() matches, decide() prices.
class Adaptive final : public Strategy {
  public:
    explicit Adaptive(const View& view) : view_(view) {}

    Choice choose(const Question& question, std::span<const BackendSlot> candidates) override;
    std::span<const CostTerms> terms() const override { return terms_; }

    /// Fills the terms' matches and own prefill times; returns the least own time.
    Seconds survey(const Question& question, std::span<const BackendSlot> candidates);
    /// Prices the candidates last surveyed. chosen() is then valid.
    Choice decide(const Question& question);
    const CostTerms& chosen() const { return terms_[chosen_]; }
    prefix::Match match(BackendSlot slot) const { return matches_[slot.index()]; }

  private:
    void match_slots(const Question& question, std::span<const BackendSlot> candidates);
    void price_all(const Question& question);
    std::size_t best_of_ties(const Question& question, std::size_t cheapest);
    Reason reason(const Question& question, bool was_tie) const;

    View view_;
    std::vector<CostTerms> terms_;
    std::vector<prefix::Match> matches_ = std::vector<prefix::Match>(kMaxBackends);
    std::size_t chosen_ = 0;
    double utilisation_ = 0;  // of the fleet, at the last decision
};

}  // namespace prefix_router::routing
