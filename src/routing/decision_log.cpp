#include "routing/decision_log.hpp"

#include <algorithm>

namespace prefix_router::routing {
namespace {

struct ChosenThenCheapest {
    BackendSlot chosen;
    bool operator()(const CostTerms& a, const CostTerms& b) const {
        const bool a_chosen = a.backend == chosen;
        const bool b_chosen = b.backend == chosen;
        return a_chosen != b_chosen ? a_chosen : a.total < b.total;
    }
};

}  // namespace

DecisionLog::DecisionLog(std::size_t kept) : ring_(kept) {
    for (ExplainedDecision& entry : ring_) {
        entry.candidates.reserve(kMostCandidates);
    }
}

void DecisionLog::record(const Ticket& ticket, std::span<const CostTerms> terms, TimePoint now) {
    if (ring_.empty()) {
        return;
    }
    ExplainedDecision& entry = ring_[next_];
    next_ = next_ + 1 == ring_.size() ? 0 : next_ + 1;
    count_ = std::min(count_ + 1, ring_.size());
    entry.request = ticket.ask().id;
    entry.at = now;
    entry.model = ticket.ask().model;
    entry.priority = ticket.ask().priority;
    entry.key_blocks = ticket.ask().key.size();
    entry.decision = ticket.decision();
    entry.held = ticket.held();
    if (terms.size() <= kMostCandidates) {
        entry.candidates.assign(terms.begin(), terms.end());
        return;
    }
    entry.candidates.resize(kMostCandidates);
    std::partial_sort_copy(terms.begin(), terms.end(), entry.candidates.begin(),
                           entry.candidates.end(), ChosenThenCheapest{entry.decision.backend});
}

void DecisionLog::forget(BackendSlot slot) {
    std::vector<ExplainedDecision> kept = newest(count_);
    std::erase_if(kept,
                  [&](const ExplainedDecision& entry) { return entry.decision.backend == slot; });
    for (std::size_t i = 0; i < kept.size(); ++i) {
        ExplainedDecision& entry = ring_[i];
        entry = kept[kept.size() - 1 - i];  // oldest first, into the ring's own memory
        std::erase_if(entry.candidates,
                      [&](const CostTerms& terms) { return terms.backend == slot; });
    }
    count_ = kept.size();
    next_ = ring_.empty() ? 0 : count_ % ring_.size();
}

std::vector<ExplainedDecision> DecisionLog::newest(std::size_t limit) const {
    std::vector<ExplainedDecision> out;
    const std::size_t wanted = std::min(limit, count_);
    out.reserve(wanted);
    for (std::size_t i = 1; i <= wanted; ++i) {
        ExplainedDecision& entry =
            out.emplace_back(ring_[(next_ + ring_.size() - i) % ring_.size()]);
        std::stable_sort(entry.candidates.begin(), entry.candidates.end(),
                         ChosenThenCheapest{entry.decision.backend});
    }
    return out;
}

}  // namespace prefix_router::routing
