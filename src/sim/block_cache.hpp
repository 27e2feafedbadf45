#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/flat_index.hpp"

namespace prefix_router::sim {

/// The KV pool of one simulated engine, in blocks. A block is free, pinned (by one or more running
/// requests) or evictable (in LRU order). Named blocks can be found by their id; anonymous ones
/// (a partly filled block, an answer) only take room. Invariant: free + pinned + evictable =
/// capacity. Not thread-safe; owned by one Engine.
class BlockCache {
  public:
    explicit BlockCache(std::size_t capacity);

    std::size_t capacity() const { return capacity_; }
    std::size_t free() const { return free_; }
    std::size_t evictable() const { return evictable_; }
    std::uint64_t evicted() const { return evicted_; }

    /// Leading ids that are here, pinned or evictable.
    std::size_t match(std::span<const std::uint64_t> ids) const;

    /// Pins the chain and `anonymous` more blocks, evicting the oldest blocks where needed. False,
    /// and nothing changed, when there is not enough room.
    bool acquire(std::span<const std::uint64_t> ids, std::size_t anonymous);

    /// Gives back what acquire() took. The anonymous blocks become evictable first; as many of
    /// `answer` as fit into them take their place under their own ids. Then the chain, from its
    /// tail to its root, so that the root is the youngest. Blocks [computed, end) of the chain that
    /// nobody else pins never were filled: they become free.
    void release(std::span<const std::uint64_t> ids, std::size_t computed,
                 std::span<const std::uint64_t> answer, std::size_t anonymous);

    /// Frees every evictable block.
    void flush();

    /// Grows, or shrinks by free and then by the oldest blocks. What is pinned stays until it is
    /// released: capacity() falls then.
    void resize(std::size_t capacity);

  private:
    using Index = std::uint32_t;
    static constexpr Index kNil = FlatIndex::kNone;

    struct Block {
        std::uint64_t id = 0;
        std::uint32_t pins = 0;
        bool is_named = false;
        Index older = kNil;
        Index younger = kNil;
    };

    Index create(std::uint64_t id, bool is_named);
    void destroy(Index index);
    void push_youngest(Index index);
    void push_oldest(Index index);
    void unlink(Index index);
    void evict_oldest();
    void shrink();
    void release_answer(std::span<const std::uint64_t> answer, std::size_t anonymous);

    std::size_t capacity_;
    std::size_t wanted_;  ///< capacity, when enough has been released
    std::size_t free_;
    std::size_t evictable_ = 0;
    std::uint64_t evicted_ = 0;
    FlatIndex index_;
    std::vector<Block> blocks_;
    std::vector<Index> unused_;
    Index oldest_ = kNil;
    Index youngest_ = kNil;
};

}  // namespace prefix_router::sim
