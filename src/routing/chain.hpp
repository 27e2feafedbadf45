#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "prefix_router/base/ids.hpp"
#include "prefix_router/prompt/prompt_key.hpp"

namespace prefix_router::routing {

/// A key's units as tokens: units / r, r = bytes per token of the model (1 for token keys). Ends
/// are converted, not sizes, so that blocks add up to the whole.
/// Example, r = 4: ends {256, 512, 600} give {64, 128, 150}.
void tokens_of(std::span<const std::uint32_t> ends, double units_per_token,
               std::vector<std::uint32_t>& out);
Tokens prompt_tokens(const prompt::PromptKey& key, double units_per_token);

}  // namespace prefix_router::routing
