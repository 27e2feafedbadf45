#include "routing/strategies/adaptive.hpp"

#include <algorithm>

#include "routing/cost.hpp"
#include "routing/strategies/rendezvous.hpp"

namespace prefix_router::routing {
namespace {

constexpr double kIdleUtilisation = 0.05;
constexpr double kTieShare = 0.02;
constexpr Seconds kTieSeconds = 0.005;
constexpr Seconds kEqual = 1e-9;
constexpr Tokens kUsefulShare = 10;  // a match of a tenth of the prompt is useful
// Engines cache whole blocks of at least this many tokens and never a whole prompt: a greeting is
// cached nowhere, and has no home that all greetings would pile up at.
constexpr Tokens kLeastCached = 16;

/// A slot is worth keeping as a whole: what its prompt leaves unused serves no other. Of two
/// backends the one with the older prompt to push out is the cheaper.
void count_slots(const SlotCache& slots, const Question& question, Seconds decode,
                 CostInputs& inputs) {
    const SlotCache::Outlook outlook = slots.outlook(question.chain, question.now);
    const auto count = static_cast<Tokens>(slots.slots());
    const Tokens each = std::max<Tokens>(1, inputs.capacity / count);
    inputs.capacity = each * count;
    inputs.working_set = static_cast<Tokens>(static_cast<double>(each) * outlook.kept_slots);
    inputs.room = std::nullopt;
    inputs.engine_wait = decode * static_cast<double>(outlook.ahead) / static_cast<double>(count);
}

bool may_be_cached(const Question& question) {
    return !question.chain.hashes.empty() && question.prompt_tokens > kLeastCached;
}

}  // namespace

Choice Adaptive::choose(const Question& question, std::span<const BackendSlot> candidates) {
    survey(question, candidates);
    return decide(question);
}

Seconds Adaptive::survey(const Question& question, std::span<const BackendSlot> candidates) {
    for (const BackendSlot slot : candidates) {
        matches_[slot.index()] = {};
    }
    if (may_be_cached(question)) {
        view_.map.match(question.chain, candidates, matches_);
        if (view_.fleet.has_slots()) {
            match_slots(question, candidates);
        }
    }
    const PrefillModel& prefill = view_.fleet.model(question.model).prefill;
    terms_.resize(candidates.size());
    Seconds least = 1e30;
    for (std::size_t k = 0; k < candidates.size(); ++k) {
        CostTerms& terms = terms_[k];
        terms.backend = candidates[k];
        terms.match = matches_[terms.backend.index()].tokens;
        const bool has_key = !question.chain.hashes.empty();
        const Tokens uncached = std::max<Tokens>(1, question.prompt_tokens - terms.match);
        terms.own = has_key ? prefill.estimate(terms.backend, uncached, question.prompt_tokens)
                            : prefill.overhead();
        least = std::min(least, terms.own);
    }
    return least;
}

void Adaptive::match_slots(const Question& question, std::span<const BackendSlot> candidates) {
    for (const BackendSlot slot : candidates) {
        if (const auto& slots = view_.fleet.at(slot).slots) {
            matches_[slot.index()] = slots->outlook(question.chain, question.now).match;
        }
    }
}

void Adaptive::price_all(const Question& question) {
    const ModelState& model = view_.fleet.model(question.model);
    const auto count = static_cast<double>(question.fleet_size);
    CostInputs inputs;
    inputs.arrivals = model.arrivals.at(question.now) / count;
    inputs.utilisation = utilisation_ = model.work.at(question.now) / count;
    inputs.prompt = question.prompt_tokens;
    inputs.decode = model.decode;
    for (CostTerms& terms : terms_) {
        const BackendSlot slot = terms.backend;
        BackendState& state = view_.fleet.at(slot);
        state.settle(question.now);
        inputs.backlog = state.backlog.wait(question.now);
        if (!question.ahead.empty()) {
            inputs.backlog += question.ahead[slot.index()] / state.backlog.lanes();
        }
        inputs.lanes = state.backlog.lanes();
        inputs.backlog += state.foreign.waiting(question.now) * model.mean_prefill / inputs.lanes;
        inputs.own = terms.own;
        inputs.uncached = std::max<Tokens>(1, question.prompt_tokens - terms.match);
        inputs.working_set = view_.map.working_set(slot);
        inputs.capacity = state.capacity.believed();
        inputs.room = state.capacity.room();
        inputs.pinned = view_.map.pinned(slot);
        const std::uint32_t queued = question.queued.empty() ? 0 : question.queued[slot.index()];
        inputs.slot_wait = state.slot_wait(question.now, model.decode + model.mean_prefill, queued);
        inputs.in_flight = view_.pool.find(slot)->in_flight + state.foreign.total(question.now);
        inputs.engine_wait = 0;
        if (state.slots) {
            count_slots(*state.slots, question, model.decode, inputs);
        }
        price(inputs, terms);
    }
}

std::size_t Adaptive::best_of_ties(const Question& question, std::size_t cheapest) {
    const Seconds least = terms_[cheapest].total;
    const Seconds limit = utilisation_ < kIdleUtilisation
                              ? std::max(least * (1 + kTieShare), least + kTieSeconds)
                              : least + kEqual;
    const std::uint64_t home = may_be_cached(question) ? question.key.home : 0;
    std::size_t best = cheapest;
    std::uint64_t best_weight = 0;
    bool has_best = false;
    for (std::size_t k = 0; k < terms_.size(); ++k) {
        if (terms_[k].total > limit) {
            continue;
        }
        const std::uint64_t weight =
            home != 0 ? rendezvous_weight(home, *view_.pool.find(terms_[k].backend))
                      : view_.random();
        const bool is_better = terms_[k].match != terms_[best].match
                                   ? terms_[k].match > terms_[best].match
                                   : weight > best_weight;
        if (!has_best || is_better) {
            best = k;
            best_weight = weight;
            has_best = true;
        }
    }
    return best;
}

Choice Adaptive::decide(const Question& question) {
    price_all(question);
    std::size_t cheapest = 0;
    for (std::size_t k = 1; k < terms_.size(); ++k) {
        if (terms_[k].total < terms_[cheapest].total) {
            cheapest = k;
        }
    }
    chosen_ = best_of_ties(question, cheapest);
    return {terms_[chosen_].backend, reason(question, chosen_ != cheapest)};
}

Reason Adaptive::reason(const Question& question, bool was_tie) const {
    if (question.chain.hashes.empty()) {
        return Reason::LeastLoaded;
    }
    Tokens longest = 0;
    for (const CostTerms& terms : terms_) {
        longest = std::max(longest, terms.match);
    }
    const Tokens useful = std::max<Tokens>(1, question.prompt_tokens / kUsefulShare);
    const Tokens here = terms_[chosen_].match;
    if (longest >= here + useful) {
        return Reason::Spilled;
    }
    if (here >= useful) {
        return Reason::Warm;
    }
    return was_tie ? Reason::Home : Reason::Cold;
}

}  // namespace prefix_router::routing
