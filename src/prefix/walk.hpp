#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "prefix/table.hpp"

namespace prefix_router::prefix {

/// A walk over the blocks [from, end) of a chain, the last one first. Their places are fetched a
/// batch at a time, so that the memory latencies of the table overlap. When slots were inserted,
/// renew() them.
///
///     for (Walk walk(slots, chain, from); walk.next();) { use(walk.find()); }
class PrefixMap::Table::Walk {
  public:
    Walk(const SlotTable& slots, const Chain& chain, std::size_t from)
        : slots_(slots),
          chain_(chain),
          from_(std::min(from, chain.hashes.size())),
          block_(chain.hashes.size()) {}

    bool next() {
        if (place_ == places_.data()) {
            if (block_ == from_) {
                return false;
            }
            fetch();
        }
        --place_;
        --block_;
        return true;
    }
    std::size_t block() const { return block_; }
    std::uint64_t key() const { return place_->key; }
    Slot* find() const { return slots_.find(*place_); }
    /// After an insertion: it may have fitted a segment anew.
    void renew() {
        if (slots_.fits() != fits_) {
            for (SlotTable::Place* place = places_.data(); place != place_; ++place) {
                *place = slots_.locate(place->key);
            }
            fits_ = slots_.fits();
        }
    }

  private:
    static constexpr std::size_t kBatch = 16;

    void fetch() {
        const std::size_t count = std::min(block_ - from_, kBatch);
        const std::uint64_t* hashes = chain_.hashes.data() + (block_ - count);
        for (std::size_t i = count; i-- > 0;) {
            places_[i] = slots_.locate(key_of(hashes[i]));
        }
        place_ = places_.data() + count;
        fits_ = slots_.fits();
    }

    const SlotTable& slots_;
    const Chain& chain_;
    std::size_t from_;
    std::size_t block_;
    std::uint64_t fits_ = 0;
    std::array<SlotTable::Place, kBatch> places_;
    SlotTable::Place* place_ = places_.data();  ///< of block_; the batch begins at places_
};

}  // namespace prefix_router::prefix
