#include "prefix_router/routing/prefix_sample.hpp"

#include <algorithm>
#include <unordered_map>

namespace prefix_router::routing {
namespace {

/// Blocks up to each mark.
constexpr auto kDepths = [] {
    constexpr std::size_t kDense = 8;
    std::array<std::size_t, MarkedPrompt::kMarks> depths{};
    for (std::size_t i = 0; i < depths.size(); ++i) {
        depths[i] =
            i < kDense ? i + 1 : depths[i - 1] + std::max<std::size_t>(1, depths[i - 1] / 6);
    }
    return depths;
}();

/// A prefix that so large a part of its prompts continues alike is shown by its continuation only.
constexpr double kContinuedAlike = 0.8;

struct Use {
    std::uint32_t tokens = 0;
    std::uint32_t prompts = 0;
    bool is_continued = false;
};
using Uses = std::unordered_map<std::uint64_t, Use>;

Uses count_uses(std::span<const MarkedPrompt> prompts) {
    Uses uses;
    for (const MarkedPrompt& prompt : prompts) {
        for (const MarkedPrompt::Mark& mark : prompt.marks()) {
            Use& use = uses[mark.hash];
            use.tokens = mark.tokens;
            ++use.prompts;
        }
    }
    for (const MarkedPrompt& prompt : prompts) {
        const auto marks = prompt.marks();
        for (std::size_t i = 0; i + 1 < marks.size(); ++i) {
            Use& use = uses[marks[i].hash];
            const Use& next = uses[marks[i + 1].hash];
            use.is_continued = use.is_continued || next.prompts >= kContinuedAlike * use.prompts;
        }
    }
    return uses;
}

std::uint64_t shared_tokens(const HotPrefix& prefix) {
    return static_cast<std::uint64_t>(prefix.tokens) * (prefix.prompts - 1);
}

}  // namespace

void MarkedPrompt::assign(const prefix::Chain& chain) {
    size_ = 0;
    for (const std::size_t depth : kDepths) {
        if (depth > chain.hashes.size()) {
            break;
        }
        marks_[size_++] = {chain.hashes[depth - 1], chain.tokens[depth - 1]};
    }
}

void PrefixSample::note(const prefix::Chain& chain) {
    if (ring_.empty()) {
        return;
    }
    ring_[next_].assign(chain);
    next_ = next_ + 1 == ring_.size() ? 0 : next_ + 1;
    count_ = std::min(count_ + 1, ring_.size());
}

std::vector<MarkedPrompt> PrefixSample::prompts() const {
    return {ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(count_)};
}

std::vector<HotPrefix> rank_prefixes(std::span<const MarkedPrompt> prompts, std::size_t limit) {
    std::vector<HotPrefix> ranked;
    for (const auto& [hash, use] : count_uses(prompts)) {
        if (use.prompts > 1 && !use.is_continued) {
            ranked.push_back({hash, use.tokens, use.prompts, 0});
        }
    }
    std::sort(ranked.begin(), ranked.end(), [](const HotPrefix& a, const HotPrefix& b) {
        const auto shared_a = shared_tokens(a);
        const auto shared_b = shared_tokens(b);
        return shared_a != shared_b ? shared_a > shared_b : a.hash < b.hash;
    });
    ranked.resize(std::min(limit, ranked.size()));
    return ranked;
}

}  // namespace prefix_router::routing
