#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "prefix_router/base/ids.hpp"

namespace prefix_router::prefix {

/// The order in which one backend's blocks were last touched, as token sums over time. Each touch
/// gets a stamp; a block's LRU stack distance is the sum of the tokens whose stamps are newer, and
/// it is believed cached when that and itself fit the capacity, which is one comparison of its
/// stamp with cutoff().
///
/// Stamps name buckets: the newest bucket takes touches until it holds a granule of tokens
/// (capacity / resolution), then the next opens. Blocks that are touched again leave their old
/// bucket; thinned neighbours are merged, up to a granule within 1.25 times the capacity and up to
/// 4 / resolution of their distance beyond. Example, resolution 4, capacity 400 (granule 100),
/// blocks of 50 touched in the order a b c d, then a again:
///
///     stamp     2        3            stamp    2      3      4
///     bucket  [a b]    [c d]    ->           [b]    [c d]   [a]     after(b) = 150
///
/// Sums are a Fenwick tree over the buckets, modulo 2^32; at most 2^30 tokens are retained.
///
/// A stamp is 31 bits of sequence and one parity bit. When the sequence runs out, renumber() counts
/// the buckets anew under the other parity; stamps of the old parity are translated until the
/// owner has rewritten them all and calls forget_old_numbering(). Sequence numbers from stamps:
///
///     0  cleared: touched before clear(), or erased
///     1  forgotten: trimmed before a renumber()
class Timeline {
  public:
    using Sequence = std::uint32_t;
    using Stamp = std::uint32_t;
    static constexpr Sequence kCleared = 0;
    static constexpr Tokens kMostTokens = Tokens{1} << 30;

    Timeline();

    /// Capacity in tokens, and tokens per bucket as capacity / resolution (0: one touch each).
    void shape(Tokens capacity, std::uint32_t resolution);
    /// The buckets never exceed this number; they are merged more coarsely instead.
    void bound(std::size_t most_buckets) { most_buckets_ = most_buckets; }

    /// Counts a block as the youngest.
    Stamp push(std::uint32_t tokens) {
        if (open_ > 0 && Tokens{open_} + tokens > granule_) {
            open_bucket();
        }
        open_ += tokens;
        return stamp(newest());
    }
    /// Uncounts a block that is not forgotten.
    void take(Sequence sequence, std::uint32_t tokens);
    /// The same for a block out of the bucket that the last one was taken from; false: it is not.
    bool take_again(Stamp stamp, std::uint32_t tokens) {
        if ((stamp ^ parity_) - pending_start_ >= pending_width_) {
            return false;
        }
        pending_ += tokens;
        return true;
    }
    /// After pushes and takes: forgets what is beyond the `retained` youngest tokens, and renews
    /// cutoff() and resident().
    void settle(Tokens retained);
    /// Forgets everything.
    void clear();
    /// Opens a bucket; later touches are at or after the sequence number returned.
    Sequence mark();

    Sequence sequence(Stamp stamp) const {
        const Sequence plain = stamp ^ parity_;
        return (plain >> 31) == 0 ? plain : translate(stamp & kSequenceMask);
    }
    Stamp stamp(Sequence sequence) const { return sequence ^ parity_; }
    Stamp parity() const { return parity_; }

    Sequence cutoff() const { return cutoff_; }         ///< this and newer: believed cached
    Sequence oldest() const { return starts_[head_]; }  ///< older: forgotten
    Sequence first() const { return first_; }           ///< older: cleared
    Sequence newest() const { return starts_.back(); }

    Tokens total() const { return sum_from(head_); }
    Tokens resident() const { return resident_; }
    Tokens after(Sequence sequence) const { return sum_from(locate(sequence) + 1); }
    Tokens since(Sequence sequence) const { return sum_from(locate(sequence)); }

    /// Starts a numbering; the one before must be forgotten by then.
    void renumber();
    bool has_old_numbering() const { return !old_starts_.empty(); }
    void forget_old_numbering();

    std::size_t bytes() const;

  private:
    static constexpr std::uint32_t kSequenceMask = 0x7fffffff;

    Sequence translate(Sequence old) const;
    std::size_t locate(Sequence sequence) const;
    Tokens sum_from(std::size_t bucket) const;
    std::uint32_t sum_before(std::size_t bucket) const;
    std::size_t first_within(Tokens tokens) const;
    void add_to_sum(std::size_t bucket, std::uint32_t tokens);
    void flush();
    void open_bucket();
    void compact();
    void resize(std::size_t room);
    std::size_t merge(std::uint32_t scale);
    Tokens granule_at(Tokens distance, std::uint32_t scale) const;

    std::vector<Sequence> starts_;     ///< first sequence number of each bucket, ascending
    std::vector<std::uint32_t> sums_;  ///< Fenwick tree, node i at sums_[i - 1]; closed buckets
    std::size_t head_ = 0;             ///< buckets before it are forgotten
    std::uint32_t open_ = 0;           ///< tokens in the newest bucket, not yet in the tree
    std::uint32_t closed_ = 0;         ///< tokens in the tree, forgotten buckets included
    std::size_t pending_bucket_ = 0;   ///< whose taken tokens are not yet subtracted in the tree
    Sequence pending_start_ = 0;       ///< its sequence numbers
    Sequence pending_width_ = 0;       ///< 0: there is none
    std::uint32_t pending_ = 0;
    mutable std::size_t hint_ = 0;

    Tokens capacity_ = 0;
    Tokens granule_ = 0;
    std::uint32_t resolution_ = 1;
    std::size_t most_buckets_ = std::size_t{1} << 20;
    Sequence cutoff_ = 2;
    Sequence first_ = 2;
    Tokens resident_ = 0;

    Stamp parity_ = 0;
    std::vector<Sequence> old_starts_;
    Sequence old_first_ = 0;
};

}  // namespace prefix_router::prefix
