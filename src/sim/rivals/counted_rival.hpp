#pragma once

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "sim/rivals/prefix_index.hpp"
#include "sim/rivals/rival.hpp"

namespace prefix_router::sim {

/// The smallest of the values, ties broken by chance.
template <class Value>
std::size_t pick_least(const std::vector<Value>& values, Random& random) {
    const Value least = *std::min_element(values.begin(), values.end());
    std::vector<std::size_t> tied;
    for (std::size_t k = 0; k < values.size(); ++k) {
        if (values[k] <= least + static_cast<Value>(1e-12)) tied.push_back(k);
    }
    return tied.size() == 1 ? tied.front() : tied[random.below(tied.size())];
}

/// What most rivals keep: requests in flight per backend.
class CountedRival : public Rival {
  public:
    void sent(const Prompt&, std::size_t backend, Seconds) override { ++in_flight_[backend]; }
    void finished(const Prompt&, std::size_t backend) override { --in_flight_[backend]; }

  protected:
    explicit CountedRival(const RivalFleet& fleet)
        : fleet_(fleet), random_(fleet.seed), in_flight_(fleet.size()) {}

    RivalFleet fleet_;
    Random random_;
    std::vector<std::int64_t> in_flight_;
};

/// Adds an own prefix index per backend.
class MappedRival : public CountedRival {
  public:
    void sent(const Prompt& prompt, std::size_t backend, Seconds now) override {
        CountedRival::sent(prompt, backend, now);
        indexes_[backend].touch(prompt.blocks, now);
    }

  protected:
    MappedRival(const RivalFleet& fleet, std::size_t capacity_blocks)
        : CountedRival(fleet), indexes_(fleet.size(), PrefixIndex(capacity_blocks)) {}

    std::vector<std::size_t> match_all(const Prompt& prompt) const {
        std::vector<std::size_t> result;
        result.reserve(indexes_.size());
        for (const PrefixIndex& index : indexes_) result.push_back(index.match(prompt.blocks));
        return result;
    }
    Tokens uncached(const Prompt& prompt, std::size_t matched_blocks) const {
        return prompt.tokens - static_cast<Tokens>(matched_blocks) * fleet_.block_tokens;
    }

    std::vector<PrefixIndex> indexes_;
};

/// Adds the uncached tokens sent to each backend whose first token has not come.
class QueueTrackingRival : public MappedRival {
  public:
    void sent(const Prompt& prompt, std::size_t backend, Seconds now) override {
        const Tokens own = own_tokens(prompt, indexes_[backend].match(prompt.blocks));
        queued_[backend] += own;
        own_[prompt.number] = own;
        MappedRival::sent(prompt, backend, now);
    }
    void first_token(const Prompt& prompt, std::size_t backend) override {
        const auto own = own_.find(prompt.number);
        queued_[backend] -= own->second;
        own_.erase(own);
    }

  protected:
    QueueTrackingRival(const RivalFleet& fleet, std::size_t capacity_blocks)
        : MappedRival(fleet, capacity_blocks), queued_(fleet.size()) {}

    Tokens own_tokens(const Prompt& prompt, std::size_t matched_blocks) const {
        return std::max<Tokens>(1, uncached(prompt, matched_blocks));
    }

    std::vector<Tokens> queued_;

  private:
    std::unordered_map<std::size_t, Tokens> own_;  // by request number
};

}  // namespace prefix_router::sim
