#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace prefix_router {

/// XXH3_64 of `bytes` under `seed` (xxHash 0.8, stable over versions and machines: golden tests pin
/// it). Picks AVX2 or AVX-512 at run time.
std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed);

/// XXH3_64 of bytes that come in pieces: equals hash_bytes() of the pieces joined, in 576 bytes of
/// memory.
class RunningHash {
  public:
    void start(std::uint64_t seed);
    void add(std::string_view bytes);
    std::uint64_t digest() const;

  private:
    alignas(64) std::byte state_[576];
};

/// One 64-bit value mixed into another; used for ids and rendezvous weights. Stable.
constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    std::uint64_t z = a ^ (b + 0x9e3779b97f4a7c15U + (a << 6) + (a >> 2));
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

}  // namespace prefix_router
