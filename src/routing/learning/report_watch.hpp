#pragma once

#include <cstdint>

#include "prefix_router/base/ids.hpp"
#include "prefix_router/prefix/prefix_map.hpp"

namespace prefix_router::routing {

/// Notices from reports of cached tokens that a backend was restarted or its cache flushed: three
/// answers running with over 1,000 tokens believed and none found. Only blocks that were touched
/// lately count (`distance` of the root under a quarter of the capacity): older ones are also
/// denied by a cache that is smaller than believed.
class FlushDetector {
  public:
    struct Report {
        Tokens believed = 0;
        Tokens reported = 0;
        prefix::StackDistance distance = 0;
        Tokens capacity = 0;
    };
    enum class Verdict : std::uint8_t {
        Fine,
        Suspected,
        Flushed  ///< the backend's map should be dropped
    };
    Verdict learn(const Report& report);

  private:
    std::uint32_t denied_ = 0;
};

/// Notices that an engine with slots (slot_cache.hpp) keeps prompts beside them, as llama.cpp does
/// in host memory by default: eight answers found over a tenth of their prompt more than the slots
/// had, and none that much less in between. Only requests that found a slot free count.
class SlotsWatch {
  public:
    /// True when the slots are not all.
    bool learn(Tokens prompt, Tokens believed, Tokens reported);

  private:
    std::uint32_t found_more_ = 0;
};

/// The engine's block size: engines report cached tokens in whole blocks, so it divides every
/// report. 1 until four reports agree on something larger, and on engines that count by the token.
class EngineBlock {
  public:
    void learn(Tokens reported);
    Tokens size() const;

  private:
    Tokens divisor_ = 0;
    std::uint32_t reports_ = 0;
};

}  // namespace prefix_router::routing
