#pragma once

#include <cstddef>
#include <cstdint>

/// XXH3 compiled once for each instruction set, to be chosen from at run time. All give the same
/// result. They clear the upper halves of the vector registers, which GCC 12 leaves out here and
/// Debian's own dispatcher too: while those are in use every SSE instruction waits for the one
/// before it, and the first for the hash. Measured a third of the time of reading a chat of 64 KB.
namespace prefix_router::hash_kernel {

inline constexpr std::size_t kSecretSize = 192;

struct Kernel {
    std::uint64_t (*with_seed)(const char* bytes, std::size_t size, std::uint64_t seed);
    std::uint64_t (*with_secret)(const char* bytes, std::size_t size, const void* secret);
};

extern const Kernel kBaseline;
#if defined(__x86_64__)
extern const Kernel kAvx2;
extern const Kernel kAvx512;
#endif

}  // namespace prefix_router::hash_kernel
