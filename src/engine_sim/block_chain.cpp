#include "engine_sim/block_chain.hpp"

#include <cstring>

#include "engine_sim/options.hpp"

namespace prefix_router::engine_sim {
namespace {

constexpr std::size_t kBlockBytes = static_cast<std::size_t>(kBlockTokens * kBytesPerToken);

// Multiply and fold by 64-bit words: a dozen times faster than FNV by bytes, good enough for cache
// keys in a simulator.
std::uint64_t hash_words(std::string_view bytes, std::uint64_t seed) {
    std::uint64_t hash = seed ^ (bytes.size() * 0x9fb21c651e98df25U);
    while (!bytes.empty()) {
        std::uint64_t word = 0;
        const std::size_t taken = bytes.size() < sizeof word ? bytes.size() : sizeof word;
        std::memcpy(&word, bytes.data(), taken);
        bytes.remove_prefix(taken);
        hash = (hash ^ word) * 0xd6e8feb86659fd93U;
        hash ^= hash >> 29;
    }
    return (hash ^ (hash >> 32)) * 0xd6e8feb86659fd93U;
}

}  // namespace

BlockChain::BlockChain(std::string_view model, std::string_view cache_salt)
    : last_(hash_words(cache_salt, hash_words(model, 0))) {}

void BlockChain::append(std::string_view text) {
    bytes_ += text.size();
    if (!tail_.empty()) {
        const std::size_t wanted = kBlockBytes - tail_.size();
        tail_.append(text.substr(0, wanted));
        text.remove_prefix(text.size() < wanted ? text.size() : wanted);
        if (tail_.size() < kBlockBytes) return;
        blocks_.push_back(last_ = hash_words(tail_, last_));
        tail_.clear();
    }
    for (; text.size() >= kBlockBytes; text.remove_prefix(kBlockBytes))
        blocks_.push_back(last_ = hash_words(text.substr(0, kBlockBytes), last_));
    tail_ = text;
}

std::uint64_t BlockChain::digest() const {
    return hash_words(tail_, last_);
}

std::uint32_t fnv1a_32(std::string_view bytes) {
    std::uint32_t hash = 2166136261U;
    for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    return hash;
}

}  // namespace prefix_router::engine_sim
