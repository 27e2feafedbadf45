#include <limits>

#include "sim/rivals/counted_rival.hpp"

namespace prefix_router::sim {
namespace {

/// Distinct blocks of the requests in flight on one backend.
class ActiveBlocks {
  public:
    std::size_t size() const { return counts_.size(); }

    std::size_t missing(std::span<const std::uint64_t> chain) const {
        std::size_t result = 0;
        for (const std::uint64_t id : chain) result += counts_.contains(id) ? 0U : 1U;
        return result;
    }
    void add(std::span<const std::uint64_t> chain) {
        for (const std::uint64_t id : chain) ++counts_[id];
    }
    void remove(std::span<const std::uint64_t> chain) {
        for (const std::uint64_t id : chain) {
            const auto at = counts_.find(id);
            if (--at->second == 0) counts_.erase(at);
        }
    }

  private:
    std::unordered_map<std::uint64_t, std::uint32_t> counts_;
};

/// Dynamo's KV router without events: prefixes are believed cached for 120 s after a decision; the
/// least (queued and own uncached tokens in blocks) + (blocks in use with this request there).
class KvRouter final : public QueueTrackingRival {
  public:
    explicit KvRouter(const RivalFleet& fleet)
        : QueueTrackingRival(fleet, std::numeric_limits<std::size_t>::max()),
          active_(fleet.size()) {}

    std::size_t choose(const Prompt& prompt, Seconds now) override {
        std::vector<double> costs;
        for (std::size_t k = 0; k < fleet_.size(); ++k) {
            indexes_[k].expire(now - kTimeToLive);
            const Tokens own = uncached(prompt, indexes_[k].match(prompt.blocks));
            const std::size_t in_use = blocks_in_use(k) + active_[k].missing(prompt.blocks) + 1;
            costs.push_back(static_cast<double>(queued_[k] + own) /
                                static_cast<double>(fleet_.block_tokens) +
                            static_cast<double>(in_use));
        }
        return pick_least(costs, random_);
    }

    void sent(const Prompt& prompt, std::size_t backend, Seconds now) override {
        QueueTrackingRival::sent(prompt, backend, now);
        active_[backend].add(prompt.blocks);
    }
    void finished(const Prompt& prompt, std::size_t backend) override {
        QueueTrackingRival::finished(prompt, backend);
        active_[backend].remove(prompt.blocks);
    }

  private:
    static constexpr Seconds kTimeToLive = 120;

    /// Every request also holds one partly filled block of its own.
    std::size_t blocks_in_use(std::size_t backend) const {
        return active_[backend].size() + static_cast<std::size_t>(in_flight_[backend]);
    }

    std::vector<ActiveBlocks> active_;
};

}  // namespace

std::unique_ptr<Rival> make_rival_kv_router(const RivalFleet& fleet) {
    return std::make_unique<KvRouter>(fleet);
}

}  // namespace prefix_router::sim
