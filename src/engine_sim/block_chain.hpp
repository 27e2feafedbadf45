#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace prefix_router::engine_sim {

/// The engine's view of a sequence: blocks of 16 tokens of 4 bytes, each block's id a hash of its
/// bytes and of the id before it, the first seeded by model and cache salt. Equal ids mean equal
/// prefixes. Deliberately another hash, another cut and another rendering than the router's prompt
/// key, so that hits counted here check what the router believes. Not thread-safe.
class BlockChain {
  public:
    BlockChain(std::string_view model, std::string_view cache_salt);

    void append(std::string_view text);

    /// Ids of the full blocks so far.
    const std::vector<std::uint64_t>& blocks() const { return blocks_; }
    std::size_t bytes() const { return bytes_; }
    /// Of everything appended, the unfinished block included.
    std::uint64_t digest() const;

  private:
    std::uint64_t last_;
    std::size_t bytes_ = 0;
    std::string tail_;
    std::vector<std::uint64_t> blocks_;
};

/// FNV-1a, 32 bits: short enough for a person to recompute.
std::uint32_t fnv1a_32(std::string_view bytes);

}  // namespace prefix_router::engine_sim
