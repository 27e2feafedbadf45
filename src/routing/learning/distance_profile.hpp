#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "prefix_router/base/ids.hpp"
#include "prefix_router/prefix/prefix_map.hpp"

namespace prefix_router::routing {

/// Stack distances along a chain, kept from dispatch to the report of cached tokens. They ascend,
/// in few steps (one per turn of a conversation), so a step is stored only where the distance
/// grows by more than 1/64: a chain of 1,000 blocks takes a handful of entries.
class DistanceProfile {
  public:
    void assign(std::span<const prefix::StackDistance> distances);
    void clear() { steps_.clear(); }
    bool empty() const { return steps_.empty(); }
    /// kNever beyond the chain's known part.
    prefix::StackDistance at(std::size_t block) const;
    /// The largest known distance among blocks [from, to); 0 when none is known.
    prefix::StackDistance farthest(std::size_t from, std::size_t to) const;

  private:
    struct Step {
        std::uint32_t from_block;
        prefix::StackDistance distance;
    };
    std::vector<Step> steps_;
};

}  // namespace prefix_router::routing
