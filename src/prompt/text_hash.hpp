#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "prefix_router/base/hash.hpp"

namespace prefix_router::prompt {

/// Hash of a text that comes in pieces; where the pieces are cut does not matter. Chained XXH3 over
/// blocks of 1 KB, under a secret where there is one.
class TextHash {
  public:
    static constexpr std::size_t kBlock = 1024;  ///< shorter texts are hashed at once

    TextHash() = default;
    explicit TextHash(const KeyedHash* keyed) : keyed_(keyed) {}  ///< must outlive it

    void start(std::uint64_t seed) {
        hash_ = seed;
        fill_ = 0;
    }
    void add(std::string_view bytes);
    std::uint64_t digest() const;

  private:
    std::uint64_t chained(std::string_view block) const;

    const KeyedHash* keyed_ = nullptr;
    std::uint64_t hash_ = 0;
    std::size_t fill_ = 0;
    std::array<char, kBlock> buffer_;
};

}  // namespace prefix_router::prompt
