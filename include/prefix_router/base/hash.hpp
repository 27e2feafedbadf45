#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

struct XXH3_state_s;

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
    std::array<std::byte, 192> secret_;
};

/// XXH3_64 of bytes that come in pieces: equals hash_bytes(), or the KeyedHash, of the pieces
/// joined. Holds 256 bytes; more than that are hashed as they come, in a state on the heap.
class RunningHash {
  public:
    void start(std::uint64_t seed);
    void start(const KeyedHash& keyed);  ///< `keyed` must outlive the use
    void add(std::string_view bytes) {
        if (bytes.size() > held_.size() - size_) return add_beyond(bytes);
        std::memcpy(held_.data() + size_, bytes.data(), bytes.size());
        size_ += bytes.size();
    }
    std::uint64_t digest();

  private:
    struct Free {
        void operator()(XXH3_state_s* state) const;
    };

    void add_beyond(std::string_view bytes);
    void pass_on();

    const KeyedHash* keyed_ = nullptr;
    std::uint64_t seed_ = 0;
    bool is_running_ = false;  ///< the state has taken over
    std::size_t size_ = 0;     ///< of what is held and not passed on
    std::unique_ptr<XXH3_state_s, Free> state_;
    std::array<char, 256> held_;
};

/// One 64-bit value mixed into another; used for ids and rendezvous weights. Stable.
constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    std::uint64_t z = a ^ (b + 0x9e3779b97f4a7c15U + (a << 6) + (a >> 2));
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

}  // namespace prefix_router
