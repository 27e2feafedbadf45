#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "prefix_router/base/ids.hpp"

namespace prefix_router::prefix {

/// A chain of blocks as the map sees it: hash and size in tokens of each block, root first.
/// hashes[k] stands for the whole prefix up to block k, so presence is monotone along a chain.
struct Chain {
    std::span<const std::uint64_t> hashes;
    std::span<const std::uint32_t> tokens;  ///< tokens up to the end of block k (cumulative)
};

/// Leading blocks and tokens believed cached on one backend.
struct Match {
    std::uint32_t blocks = 0;
    Tokens tokens = 0;
};

/// How far back in a backend's history a block was last touched: distinct tokens touched there
/// since (LRU stack distance). kNever: not in the map, not even as a ghost.
using StackDistance = Tokens;
inline constexpr StackDistance kNever = std::int64_t{1} << 60;

/// Which backend holds which prefix: for every backend an LRU of blocks with a capacity in tokens,
/// all backends in one table, so that one walk of a chain serves all of them. Beyond the capacity a
/// block stays as a ghost (up to 8x), so that a capacity believed too small can be corrected
/// upwards. Touching a chain makes its root the youngest, so leaves are evicted first. Bounded by
/// bytes over all backends; over the bound the oldest go first. Not thread-safe: the routing lock
/// guards it. No clock: `tick` marks time for working_set().
class PrefixMap {
  public:
    struct Options {
        std::size_t memory_bytes = std::size_t{256} << 20;
        double ghost_factor = 8.0;  ///< ghosts kept up to this multiple of the capacity; 1 = none
        /// Residency and distances are exact to capacity / resolution tokens; those of ghosts, also
        /// of ghosts that a grown capacity or an erase has just revived, to distance * 4 /
        /// resolution. More costs memory and nothing else.
        std::uint32_t resolution = 1024;
        /// Touches after which a backend's stamps are renumbered; tests lower it.
        std::uint32_t renumber_after = std::uint32_t{1} << 30;
    };

    explicit PrefixMap(Options options);
    ~PrefixMap();
    PrefixMap(const PrefixMap&) = delete;
    PrefixMap& operator=(const PrefixMap&) = delete;

    void add_backend(BackendSlot backend, Tokens capacity);  ///< starts empty
    void remove_backend(BackendSlot backend);  ///< forgets all its blocks; the slot may be reused
    void clear_backend(
        BackendSlot backend);  ///< its cache was flushed: forget blocks, keep capacity
    void set_capacity(BackendSlot backend, Tokens capacity);
    Tokens capacity(BackendSlot backend) const;

    /// Fills `out[slot.index()]` for every slot in `backends`; other entries are left alone.
    /// Under a microsecond for a 128-block chain on 8 backends while the table fits the caches, 2-3
    /// us at 10 million entries (ADR 0002).
    void match(const Chain& chain, std::span<const BackendSlot> backends,
               std::span<Match> out) const;

    /// Backends believed to hold the block.
    std::size_t copies(std::uint64_t hash) const;

    /// Stack distances of the chain's blocks [0, chain.hashes.size()) on one backend, ascending
    /// along the chain.
    void distances(const Chain& chain, BackendSlot backend, std::vector<StackDistance>& out) const;

    /// Inserts or touches the blocks [from, end) of the chain: they were computed.
    void touch(const Chain& chain, BackendSlot backend, std::size_t from = 0);

    /// Counts tokens that the backend's cache has taken in beside the map's blocks, such as an
    /// answer that no prompt will repeat: nothing finds them, they push out what is older.
    void fill(BackendSlot backend, Tokens tokens);

    /// Forgets blocks [from, end) of the chain on this backend, ghosts included (a dispatch that
    /// failed, a hit that was denied). Blocks that are pinned stay, since a request in flight is
    /// about to compute them: unpin the failed request before. Longer chains through the erased
    /// blocks are not visited: their ends may be believed cached until they age or are touched.
    void erase(const Chain& chain, BackendSlot backend, std::size_t from);

    /// A request is sent: touches the chain and pins it, since the request uses its blocks while it
    /// is in flight there. Blocks are there once computed: those from `believed` on are sent anew.
    /// Pairs exactly with one of the three that unpin.
    void touch_and_pin(const Chain& chain, BackendSlot backend, std::size_t believed = 0);
    /// Its answer ends: unpins, and touches as computed, the blocks [from, end). May be done in
    /// parts, a chain's end before its beginning.
    void unpin_and_touch(const Chain& chain, BackendSlot backend, std::size_t from = 0);
    /// It ends otherwise, and had its blocks computed as far as it went.
    void unpin_computed(const Chain& chain, BackendSlot backend);
    /// It ends, and had not: forgets those that nobody else has computed or has pinned.
    void unpin_failed(const Chain& chain, BackendSlot backend);
    Tokens pinned(BackendSlot backend) const;  ///< distinct tokens pinned

    /// Distinct tokens touched on the backend during the last `window` seconds of ticks, exact to
    /// one tick.
    Tokens working_set(BackendSlot backend) const;
    /// Tells the time, in seconds, non-decreasing; call before touch() at least once a second of
    /// activity.
    void tick(double now_seconds, double window_seconds = 120.0);

    Tokens resident(BackendSlot backend) const;  ///< tokens believed cached, at most the capacity
    std::size_t entries() const;                 ///< block copies held, ghosts included
    std::size_t memory_bytes() const;

  private:
    class Table;
    std::unique_ptr<Table> table_;
};

}  // namespace prefix_router::prefix
