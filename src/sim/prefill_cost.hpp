#pragma once

#include "prefix_router/sim/engine.hpp"

namespace prefix_router::sim {

/// Seconds of one undisturbed prefill server for the tokens [cached, prompt) of a prompt.
/// Example: 1,000 tokens at 8,000/s with 0.03 s overhead and an attention length of 10,000:
/// 0.03 + (1000 + 50) / 8000 = 0.161 s.
Seconds prefill_seconds(const EngineOptions& options, Tokens prompt, Tokens cached);

/// The inverse: tokens computed beyond `cached` once a prefill has had `served` seconds.
Tokens tokens_computed(const EngineOptions& options, Tokens cached, Seconds served);

}  // namespace prefix_router::sim
