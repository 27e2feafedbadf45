#include "prefix_router/base/hash.hpp"

#include <new>

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

KeyedHash::KeyedHash(std::uint64_t key) {
    XXH3_generateSecret_fromSeed(secret_.data(), key);
}

std::uint64_t KeyedHash::operator()(std::string_view bytes) const {
    return kernel().with_secret(bytes.data(), bytes.size(), secret_.data());
}

void RunningHash::Free::operator()(XXH3_state_s* state) const {
    XXH3_freeState(state);
}

void RunningHash::start(const KeyedHash& keyed) {
    keyed_ = &keyed;
    is_running_ = false;
    size_ = 0;
}

void RunningHash::start(std::uint64_t seed) {
    keyed_ = nullptr;
    seed_ = seed;
    is_running_ = false;
    size_ = 0;
}

void RunningHash::add_beyond(std::string_view bytes) {
    pass_on();
    if (bytes.size() <= held_.size()) return add(bytes);
    XXH3_64bits_update(state_.get(), bytes.data(), bytes.size());
}

void RunningHash::pass_on() {
    if (!is_running_) {
        if (state_ == nullptr) state_.reset(XXH3_createState());
        if (state_ == nullptr) throw std::bad_alloc();
        if (keyed_ != nullptr)
            XXH3_64bits_reset_withSecret(state_.get(), keyed_->secret_.data(),
                                         keyed_->secret_.size());
        else
            XXH3_64bits_reset_withSeed(state_.get(), seed_);
        is_running_ = true;
    }
    XXH3_64bits_update(state_.get(), held_.data(), size_);
    size_ = 0;
}

std::uint64_t RunningHash::digest() {
    if (is_running_) {
        pass_on();
        return XXH3_64bits_digest(state_.get());
    }
    const std::string_view whole(held_.data(), size_);
    return keyed_ != nullptr ? (*keyed_)(whole) : hash_bytes(whole, seed_);
}

}  // namespace prefix_router
