#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "prefix_router/base/ids.hpp"
#include "prefix_router/prefix/prefix_map.hpp"

namespace prefix_router::routing {

/// A prefix that several of the last prompts begin with.
struct HotPrefix {
    std::uint64_t hash = 0;  ///< of its last block: chained under a secret, so it tells no text
    Tokens tokens = 0;
    std::uint32_t prompts = 0;  ///< of the sample that begin with it
    std::size_t copies = 0;     ///< backends believed to hold it
};

/// A prompt's chain at its first blocks and then at about every sixth part further on: enough to
/// find where prompts part, in a fixed amount of memory. Example: marks after 1, 2, ... 8, 9, 11,
/// 13, 15, 18, ... blocks.
class MarkedPrompt {
  public:
    static constexpr std::size_t kMarks = 40;

    struct Mark {
        std::uint64_t hash = 0;
        std::uint32_t tokens = 0;
    };

    void assign(const prefix::Chain& chain);
    std::span<const Mark> marks() const { return {marks_.data(), size_}; }

  private:
    std::array<Mark, kMarks> marks_{};
    std::size_t size_ = 0;
};

/// The last prompts that were sent, for whoever asks which prefixes are hot: a ring without
/// allocations. Looking for prefixes in it is the asker's work, outside the routing lock.
class PrefixSample {
  public:
    explicit PrefixSample(std::size_t kept) : ring_(kept) {}

    void note(const prefix::Chain& chain);
    std::vector<MarkedPrompt> prompts() const;

  private:
    std::vector<MarkedPrompt> ring_;
    std::size_t next_ = 0;
    std::size_t count_ = 0;
};

/// The prefixes that at least two of the prompts share, those first that stand for the most shared
/// tokens; without those that are nearly always continued alike. `copies` is left at 0.
std::vector<HotPrefix> rank_prefixes(std::span<const MarkedPrompt> prompts, std::size_t limit);

}  // namespace prefix_router::routing
