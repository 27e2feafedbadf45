#pragma once

#include <cstdint>

#include "prefix_router/base/ids.hpp"

#include "routing/learning/median_window.hpp"

namespace prefix_router::routing {

/// Bytes of prompt per token of one model, from reported prompt tokens: the median of the last 65
/// answers. The value in use moves only when the median is more than 3 % away from it, so that the
/// sizes of blocks already in the map stay comparable.
class TokenRatio {
  public:
    double bytes_per_token() const { return used_; }
    /// Prompts under 1 KB are skipped: there the chat template's own tokens weigh too much.
    void learn(std::uint64_t bytes, Tokens reported);

  private:
    MedianWindow ratios_{65};
    double used_ = 4.0;
};

}  // namespace prefix_router::routing
