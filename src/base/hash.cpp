#include "prefix_router/base/hash.hpp"

#define XXH_STATIC_LINKING_ONLY
#if defined(__x86_64__)
#include <immintrin.h>
#include <xxh_x86dispatch.h>
#else
#include <xxhash.h>
#endif

namespace prefix_router {
namespace {

/// Beyond this length XXH3 uses vectors.
constexpr std::size_t kLongestScalar = 240;

#if defined(__x86_64__)

const bool kHasAvx = __builtin_cpu_supports("avx") != 0;

/// Debian's libxxhash returns with the upper halves of the vector registers in use. Until they are
/// cleared every SSE instruction of ours waits for the one before it, the hash's last included:
/// measured a third of the time of reading a chat of 64 KB.
__attribute__((target("avx"))) void clear_upper_halves() {
    _mm256_zeroupper();
}

void leave_vectors(std::size_t hashed_bytes) {
    if (hashed_bytes > kLongestScalar && kHasAvx) clear_upper_halves();
}

#else

void leave_vectors(std::size_t) {}

#endif

}  // namespace

std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed) {
    const std::uint64_t hash = XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
    leave_vectors(bytes.size());
    return hash;
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
    const std::uint64_t hash =
        XXH3_64bits_withSecret(bytes.data(), bytes.size(), secret_.data(), secret_.size());
    leave_vectors(bytes.size());
    return hash;
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
    leave_vectors(kLongestScalar + 1);  // a small piece may complete a long one
}

std::uint64_t RunningHash::digest() const {
    const std::uint64_t hash = XXH3_64bits_digest(reinterpret_cast<const XXH3_state_t*>(state_));
    leave_vectors(kLongestScalar + 1);
    return hash;
}

}  // namespace prefix_router
