#define XXH_INLINE_ALL
#define XXH_NO_PREFETCH
#include <immintrin.h>

#include <xxhash.h>

#include "base/hash_kernel.hpp"

// Nothing else may be included: this file is compiled for one instruction set, and what the linker
// takes from here for other files would be too.
namespace prefix_router::hash_kernel {
namespace {

std::uint64_t with_seed(const char* bytes, std::size_t size, std::uint64_t seed) {
    const std::uint64_t hash = XXH3_64bits_withSeed(bytes, size, seed);
    _mm256_zeroupper();
    return hash;
}

std::uint64_t with_secret(const char* bytes, std::size_t size, const void* secret) {
    const std::uint64_t hash = XXH3_64bits_withSecret(bytes, size, secret, kSecretSize);
    _mm256_zeroupper();
    return hash;
}

}  // namespace

const Kernel kAvx2 = {with_seed, with_secret};

}  // namespace prefix_router::hash_kernel
