#include "sim/rivals/counted_rival.hpp"

namespace prefix_router::sim {
namespace {

/// llm-d's "sticky until saturated": backends with 80 % of the prompt cached are the candidates,
/// unless their shortest queue is longer than that of the others by 14 s of prefill at the
/// calibrated rate; among the candidates the fewest uncached tokens, queued and own.
class Sticky final : public QueueTrackingRival {
  public:
    explicit Sticky(const RivalFleet& fleet) : QueueTrackingRival(fleet, fleet.believed_blocks()) {}

    std::size_t choose(const Prompt& prompt, Seconds) override {
        const std::vector<std::size_t> matches = match_all(prompt);
        std::vector<std::size_t> warm;
        std::vector<std::size_t> all;
        Tokens warm_queue = kLongQueue;
        Tokens cold_queue = kLongQueue;
        for (std::size_t k = 0; k < matches.size(); ++k) {
            all.push_back(k);
            const auto matched = static_cast<double>(prompt.tokens - uncached(prompt, matches[k]));
            const bool is_warm = matched >= kWarm * static_cast<double>(prompt.tokens);
            if (is_warm) warm.push_back(k);
            Tokens& queue = is_warm ? warm_queue : cold_queue;
            queue = std::min(queue, queued_[k]);
        }
        const bool has_choice = !warm.empty() && warm.size() < all.size();
        const auto gap = static_cast<double>(warm_queue - cold_queue);
        const bool is_saturated = gap > fleet_.prefill_rate * kSaturation;
        return least_work(prompt, matches, has_choice && !is_saturated ? warm : all);
    }

  private:
    static constexpr double kWarm = 0.8;
    static constexpr Seconds kSaturation = 14;
    static constexpr Tokens kLongQueue = Tokens{1} << 60;

    std::size_t least_work(const Prompt& prompt, const std::vector<std::size_t>& matches,
                           const std::vector<std::size_t>& candidates) {
        std::vector<Tokens> work;
        work.reserve(candidates.size());
        for (const std::size_t k : candidates) {
            work.push_back(queued_[k] + own_tokens(prompt, matches[k]));
        }
        return candidates[pick_least(work, random_)];
    }
};

}  // namespace

std::unique_ptr<Rival> make_rival_sticky(const RivalFleet& fleet) {
    return std::make_unique<Sticky>(fleet);
}

}  // namespace prefix_router::sim
