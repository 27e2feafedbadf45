#pragma once

#include <cstddef>
#include <cstdint>

namespace prefix_router::prefix {

/// One block's copy on one backend, packed into 64 bits so that a slot of the table is 16 bytes:
///
///     bit 63     62..53    52..40   39         38..32   31..0
///     0          backend   tokens   computed   pins     stamp
///
/// Bit 63 set: not a copy but a reference to a set of copies (copy_sets.hpp). The backend stands
/// above the rest, so that copies sort by backend as plain integers. A stamp is a sequence number
/// of the backend's timeline and, in bit 31, the parity of its numbering (timeline.hpp). The zero
/// word is "no copy": a copy is pinned or has a stamp.
class Copy {
  public:
    /// Larger blocks count as this many tokens; the daemon's largest block is 4 KB of text.
    static constexpr std::uint32_t kMaxTokens = (1U << 13) - 1;
    /// This many pins or more: the exact number is in a side table.
    static constexpr std::uint32_t kManyPins = 127;

    constexpr explicit Copy(std::uint64_t word) : word_(word) {}
    static constexpr Copy make(std::size_t backend, std::uint32_t tokens, std::uint32_t stamp) {
        return Copy((std::uint64_t{backend} << kBackendShift) | (std::uint64_t{tokens} << 40) |
                    stamp);
    }

    constexpr std::uint64_t word() const { return word_; }
    constexpr std::size_t backend() const { return backend_of(word_); }
    constexpr std::uint32_t tokens() const {
        return static_cast<std::uint32_t>(word_ >> 40) & kMaxTokens;
    }
    constexpr std::uint32_t pins() const {
        return static_cast<std::uint32_t>(word_ >> 32) & kManyPins;
    }
    /// A request that used the block has ended well since it was last sent there anew.
    constexpr bool is_computed() const { return (word_ & kComputed) != 0; }
    constexpr std::uint32_t stamp() const { return static_cast<std::uint32_t>(word_); }

    constexpr Copy with_stamp(std::uint32_t stamp) const {
        return Copy((word_ & ~std::uint64_t{0xffffffff}) | stamp);
    }
    constexpr Copy with_tokens(std::uint32_t tokens) const {
        return Copy((word_ & ~(std::uint64_t{kMaxTokens} << 40)) | (std::uint64_t{tokens} << 40));
    }
    constexpr Copy with_pins(std::uint32_t pins) const {
        return Copy((word_ & ~(std::uint64_t{kManyPins} << 32)) | (std::uint64_t{pins} << 32));
    }
    constexpr Copy with_computed() const { return Copy(word_ | kComputed); }
    constexpr Copy without_computed() const { return Copy(word_ & ~kComputed); }

    /// For less than kManyPins - 1 pins, and for at least one.
    constexpr Copy with_pin_more() const { return Copy(word_ + kOnePin); }
    constexpr Copy with_pin_less() const { return Copy(word_ - kOnePin); }

    static constexpr std::size_t backend_of(std::uint64_t word) {
        return static_cast<std::size_t>(word >> kBackendShift);
    }

  private:
    static constexpr unsigned kBackendShift = 53;
    static constexpr std::uint64_t kOnePin = std::uint64_t{1} << 32;
    static constexpr std::uint64_t kComputed = std::uint64_t{1} << 39;
    std::uint64_t word_;
};

inline constexpr std::uint64_t kSetFlag = std::uint64_t{1} << 63;
constexpr bool is_set(std::uint64_t word) {
    return (word & kSetFlag) != 0;
}

}  // namespace prefix_router::prefix
