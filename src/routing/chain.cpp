#include "routing/chain.hpp"

#include <algorithm>
#include <cmath>

namespace prefix_router::routing {
namespace {

// A ratio may be below 1, and the map sums a chain and up to 2^30 tokens more in 32 bits.
constexpr double kMostTokens = 0x80000000U;

}  // namespace

void tokens_of(std::span<const std::uint32_t> ends, double units_per_token,
               std::vector<std::uint32_t>& out) {
    const double per_unit = 1.0 / units_per_token;
    out.reserve(out.size() + ends.size());
    for (const std::uint32_t end : ends) {
        const double tokens = std::min(kMostTokens, static_cast<double>(end) * per_unit);
        out.push_back(static_cast<std::uint32_t>(tokens));
    }
}

Tokens prompt_tokens(const prompt::PromptKey& key, double units_per_token) {
    const double tokens = static_cast<double>(key.total) / units_per_token;
    return std::max<Tokens>(1, static_cast<Tokens>(std::llround(tokens)));
}

}  // namespace prefix_router::routing
