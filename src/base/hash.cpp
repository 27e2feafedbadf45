#include "prefix_router/base/hash.hpp"

#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

#include "base/hash_kernel.hpp"

namespace prefix_router {
namespace {

hash_kernel::Kernel best_kernel() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") != 0) return hash_kernel::kAvx512;
    if (__builtin_cpu_supports("avx2") != 0) return hash_kernel::kAvx2;
#endif
    return hash_kernel::kBaseline;
}

const hash_kernel::Kernel& kernel() {
    static const hash_kernel::Kernel chosen = best_kernel();
    return chosen;
}

}  // namespace

std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed) {
    return kernel().with_seed(bytes.data(), bytes.size(), seed);
}

namespace {

static_assert(sizeof(XXH3_state_t) == 576 && alignof(XXH3_state_t) == 64);

XXH3_state_t* as_state(std::byte* bytes) {
    return reinterpret_cast<XXH3_state_t*>(bytes);
}

}  // namespace

KeyedHash::KeyedHash(std::uint64_t key) {
    XXH3_generateSecret_fromSeed(secret_.data(), key);
}

std::uint64_t KeyedHash::operator()(std::string_view bytes) const {
    return kernel().with_secret(bytes.data(), bytes.size(), secret_.data());
}

void RunningHash::start(const KeyedHash& keyed) {
    XXH3_INITSTATE(as_state(state_));
    XXH3_64bits_reset_withSecret(as_state(state_), keyed.secret_.data(), keyed.secret_.size());
}

void RunningHash::start(std::uint64_t seed) {
    XXH3_INITSTATE(as_state(state_));
    XXH3_64bits_reset_withSeed(as_state(state_), seed);
}

void RunningHash::add(std::string_view bytes) {
    XXH3_64bits_update(as_state(state_), bytes.data(), bytes.size());
}

std::uint64_t RunningHash::digest() const {
    return XXH3_64bits_digest(reinterpret_cast<const XXH3_state_t*>(state_));
}

}  // namespace prefix_router
