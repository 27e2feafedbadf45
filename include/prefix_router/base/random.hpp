#pragma once

#include <cstdint>

namespace prefix_router {

/// SplitMix64 (Steele, Lea, Flood 2014): small, seedable, good enough for load balancing. Not for
/// secrets. Not thread-safe: each owner has its own.
class Random {
  public:
    using result_type = std::uint64_t;

    explicit Random(std::uint64_t seed) : state_(seed) {}

    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return ~result_type{0}; }

    result_type operator()() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    }

    /// Uniform in [0, bound); bound > 0. The bias of the multiply-shift is below 2^-32 for bounds
    /// below 2^32.
    std::uint64_t below(std::uint64_t bound) {
        __extension__ using Wide = unsigned __int128;
        return static_cast<std::uint64_t>((Wide{(*this)()} * bound) >> 64);
    }

    /// Uniform in [0, 1).
    double unit() { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }

  private:
    std::uint64_t state_;
};

/// A seed from the operating system, for state that must differ between starts.
std::uint64_t seed_from_system();

}  // namespace prefix_router
