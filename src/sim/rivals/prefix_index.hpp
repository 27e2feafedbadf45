#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "prefix_router/base/clock.hpp"

#include "sim/flat_index.hpp"

namespace prefix_router::sim {

/// What a rival believes one backend has cached: an LRU set of block ids. Whole chains are touched,
/// root last, so the set is closed under prefixes.
class PrefixIndex {
  public:
    explicit PrefixIndex(std::size_t capacity_blocks = std::numeric_limits<std::size_t>::max())
        : capacity_(capacity_blocks) {}

    std::size_t size() const { return index_.size(); }

    /// Leading blocks of the chain that are in the set.
    std::size_t match(std::span<const std::uint64_t> chain) const;

    /// Inserts or renews the whole chain, then evicts the oldest blocks over the capacity.
    void touch(std::span<const std::uint64_t> chain, Seconds now);

    /// Forgets blocks last touched at or before `limit`.
    void expire(Seconds limit);

  private:
    using Index = std::uint32_t;
    static constexpr Index kNil = FlatIndex::kNone;

    struct Entry {
        std::uint64_t id = 0;
        Seconds touched = 0;
        Index older = kNil;
        Index younger = kNil;
    };

    Index create(std::uint64_t id);
    void push_youngest(Index at);
    void unlink(Index at);
    void remove_oldest();

    std::size_t capacity_;
    FlatIndex index_;
    std::vector<Entry> entries_;
    std::vector<Index> unused_;
    Index oldest_ = kNil;
    Index youngest_ = kNil;
};

}  // namespace prefix_router::sim
