#include "sim/rivals/counted_rival.hpp"

namespace prefix_router::sim {
namespace {

/// SGLang's router and SMG: the best match if it covers 30 % of the prompt, else the backend with
/// the smallest tree; the least loaded one while the fleet is out of balance. Its trees hold 2^26
/// characters.
class CacheAware final : public MappedRival {
  public:
    explicit CacheAware(const RivalFleet& fleet)
        : MappedRival(fleet, static_cast<std::size_t>(kTreeTokens / fleet.block_tokens)) {}

    std::size_t choose(const Prompt& prompt, Seconds) override {
        const auto [least, most] = std::minmax_element(in_flight_.begin(), in_flight_.end());
        const bool is_unbalanced =
            *most - *least > kAbsolute &&
            static_cast<double>(*most) > kRelative * static_cast<double>(*least);
        if (is_unbalanced) return pick_least(in_flight_, random_);
        const std::vector<std::size_t> matches = match_all(prompt);
        const std::size_t best = *std::max_element(matches.begin(), matches.end());
        const auto matched = static_cast<double>(static_cast<Tokens>(best) * fleet_.block_tokens);
        if (matched / static_cast<double>(prompt.tokens) > kThreshold) {
            return pick_best(matches, best);
        }
        std::vector<std::int64_t> sizes;
        sizes.reserve(indexes_.size());
        for (const PrefixIndex& index : indexes_)
            sizes.push_back(static_cast<std::int64_t>(index.size()));
        return pick_least(sizes, random_);
    }

  private:
    static constexpr Tokens kTreeTokens = Tokens{1} << 24;
    static constexpr double kThreshold = 0.3;
    static constexpr std::int64_t kAbsolute = 64;
    static constexpr double kRelative = 1.5;

    std::size_t pick_best(const std::vector<std::size_t>& matches, std::size_t best) {
        std::vector<std::size_t> tied;
        for (std::size_t k = 0; k < matches.size(); ++k) {
            if (matches[k] == best) tied.push_back(k);
        }
        return tied[random_.below(tied.size())];
    }
};

}  // namespace

std::unique_ptr<Rival> make_rival_cache_aware(const RivalFleet& fleet) {
    return std::make_unique<CacheAware>(fleet);
}

}  // namespace prefix_router::sim
