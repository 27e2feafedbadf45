#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "prefix_router/routing/router.hpp"

namespace prefix_router::routing {

/// The last decisions with their candidates' terms: a ring whose entries keep their memory, so that
/// recording allocates nothing once warm. At most 32 candidates are kept of each, the chosen one
/// first, then the cheapest; who reads them puts them in order.
class DecisionLog {
  public:
    static constexpr std::size_t kMostCandidates = 32;

    explicit DecisionLog(std::size_t kept);

    void record(const Ticket& ticket, std::span<const CostTerms> terms, TimePoint now);
    /// The backend is gone: no decision for it stays, nor its terms in others.
    void forget(BackendSlot slot);
    std::vector<ExplainedDecision> newest(std::size_t limit) const;

  private:
    std::vector<ExplainedDecision> ring_;
    std::size_t next_ = 0;
    std::size_t count_ = 0;
};

}  // namespace prefix_router::routing
