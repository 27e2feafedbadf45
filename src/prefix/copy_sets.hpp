#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "prefix/copy.hpp"

namespace prefix_router::prefix {

enum class Growth : bool { Forbidden, Allowed };

/// The copies of blocks that several backends hold: arrays of 2 to 1024 copies in ascending order
/// of backend, in 19 size classes cut from 32 KB chunks. A set is named by the word that stands in
/// its block's slot:
///
///     bit 63     62..58       50..40   31..0
///     1          size class   copies   place
///
/// Every change returns the word that replaces the old one. Not thread-safe; owned by the table.
class CopySets {
  public:
    CopySets();

    /// The copies of a set; what they say may be changed, but for the backend.
    std::span<std::uint64_t> view(std::uint64_t word) const {
        return {at(place_of(word)), size_of(word)};
    }

    /// A set of two copies on different backends; 0 when it needs memory that it may not take.
    std::uint64_t pair(std::uint64_t first, std::uint64_t second, Growth growth);
    /// Adds a copy on a backend that the set lacks; 0 (nothing changed) as above.
    std::uint64_t add(std::uint64_t word, std::uint64_t copy, Growth growth);
    /// Removes one copy; the word is that copy itself once a single one is left.
    std::uint64_t erase(std::uint64_t word, std::size_t position);
    /// Keeps the first `size` (at least 1) copies of the set.
    std::uint64_t truncate(std::uint64_t word, std::size_t size);
    void release(std::uint64_t word);

    std::size_t bytes() const;

  private:
    static constexpr std::size_t kClasses = 19;
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};
    static constexpr std::uint32_t kChunkWords = 4096;

    static std::size_t size_of(std::uint64_t word) {
        return static_cast<std::size_t>(word >> 40) & 2047;
    }
    static std::uint32_t place_of(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
    std::uint64_t* at(std::uint32_t place) const {
        return chunks_[place / kChunkWords].get() + place % kChunkWords;
    }
    std::uint32_t allocate(std::size_t size_class, Growth growth);
    void recycle(std::uint32_t place, std::size_t size_class);
    void retire_chunk();

    std::vector<std::unique_ptr<std::uint64_t[]>> chunks_;
    std::uint32_t used_in_chunk_;
    std::array<std::uint32_t, kClasses> free_;  ///< per class, linked through the first word
};

}  // namespace prefix_router::prefix
