#pragma once

#include <memory>
#include <span>
#include <vector>

#include "prefix_router/base/random.hpp"
#include "prefix_router/config/config.hpp"
#include "prefix_router/pool/pool.hpp"
#include "prefix_router/prefix/prefix_map.hpp"
#include "prefix_router/prompt/prompt_key.hpp"
#include "prefix_router/routing/decision.hpp"

#include "routing/fleet.hpp"

namespace prefix_router::routing {

/// What a strategy is asked: where should this request go?
struct Question {
    const prompt::PromptKey& key;
    prefix::Chain chain;
    Tokens prompt_tokens = 0;
    ModelId model;
    Seconds now = 0;
    std::size_t fleet_size = 1;          ///< backends over which the model's requests spread
    std::span<const BackendSlot> fleet;  ///< the candidates, and those that are full
    /// By slot index: seconds of held work that would go before it, and number of requests. Empty:
    /// none.
    std::span<const Seconds> ahead{};
    std::span<const std::uint32_t> queued{};
};

struct Choice {
    BackendSlot backend;
    Reason reason = Reason::LeastLoaded;
};

/// Picks one of the candidates. The next in order of preference is what it picks once the first is
/// no longer among them. Candidates are never empty, present in the pool and in ascending order.
class Strategy {
  public:
    virtual ~Strategy() = default;
    virtual Choice choose(const Question& question, std::span<const BackendSlot> candidates) = 0;
    /// The candidates of the last choice with their terms; empty for strategies without a cost.
    virtual std::span<const CostTerms> terms() const { return {}; }
    /// Whose turn it is, by slot, where turns are taken: read before a choice that does not count,
    /// and given back after it.
    virtual std::vector<double> turns() const { return {}; }
    virtual void set_turns(const std::vector<double>& /*turns*/) {}
    /// The backend is gone; another may take its slot.
    virtual void forget(BackendSlot) {}
};

/// What strategies look at; all outlive them.
struct View {
    pool::Pool& pool;
    prefix::PrefixMap& map;
    Fleet& fleet;
    Random& random;
};

std::unique_ptr<Strategy> make_strategy(const config::Routing& routing, const View& view);

}  // namespace prefix_router::routing
