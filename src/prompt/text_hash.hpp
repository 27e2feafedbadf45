#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace prefix_router::prompt {

/// Hash of a text that comes in pieces; where the pieces are cut does not matter. Chained XXH3 over
/// blocks of 1 KB.
class TextHash {
  public:
    static constexpr std::size_t kBlock = 1024;  ///< shorter texts are hashed at once

    void start(std::uint64_t seed) {
        hash_ = seed;
        fill_ = 0;
    }
    void add(std::string_view bytes);
    std::uint64_t digest() const;

  private:
    std::uint64_t hash_ = 0;
    std::size_t fill_ = 0;
    std::array<char, kBlock> buffer_;
};

}  // namespace prefix_router::prompt
