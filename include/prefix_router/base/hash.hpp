#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace prefix_router {

/// XXH3_64 of `bytes` under `seed` (xxHash 0.8, stable over versions and machines: golden tests pin
/// it). Picks AVX2 or AVX-512 at run time.
std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed);

/// XXH3_64 under a secret of its own, derived from a key once: as good as a seed and twice as fast
/// for blocks of some hundred bytes, which a seed makes derive a secret each time.
class KeyedHash {
  public:
    explicit KeyedHash(std::uint64_t key);
    std::uint64_t operator()(std::string_view bytes) const;

  private:
    friend class RunningHash;
    alignas(64) std::array<std::byte, 192> secret_;
};

/// XXH3_64 of bytes that come in pieces: equals hash_bytes(), or the KeyedHash, of the pieces
/// joined, in 576 bytes of memory.
class RunningHash {
  public:
    void start(std::uint64_t seed);
    void start(const KeyedHash& keyed);  ///< `keyed` must outlive the use
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
