#include "sim/rivals/counted_rival.hpp"

namespace prefix_router::sim {
namespace {

/// The Gateway API inference extension's and llm-d's scorer profile: 3 x prefix match, 2 x shortest
/// queue, 2 x free KV memory; queue and memory are scraped every 50 ms.
class Blend final : public MappedRival {
  public:
    explicit Blend(const RivalFleet& fleet) : MappedRival(fleet, fleet.believed_blocks()) {}

    std::size_t choose(const Prompt& prompt, Seconds now) override {
        scrape(now);
        const auto [least, most] = std::minmax_element(waiting_.begin(), waiting_.end());
        const auto blocks = static_cast<double>(std::max<std::size_t>(1, prompt.blocks.size()));
        std::vector<double> costs;
        for (std::size_t k = 0; k < fleet_.size(); ++k) {
            const double prefix = static_cast<double>(indexes_[k].match(prompt.blocks)) / blocks;
            const double queue = *most == *least ? 1.0 : (*most - waiting_[k]) / (*most - *least);
            costs.push_back(-(kPrefix * prefix + kQueue * queue + kMemory * (1 - kv_usage_[k])));
        }
        return pick_least(costs, random_);
    }

  private:
    static constexpr double kPrefix = 3;
    static constexpr double kQueue = 2;
    static constexpr double kMemory = 2;
    static constexpr Seconds kScrapeInterval = 0.05;

    void scrape(Seconds now) {
        if (!waiting_.empty() && now - scraped_at_ < kScrapeInterval) return;
        scraped_at_ = now;
        waiting_.clear();
        kv_usage_.clear();
        for (const Engine& engine : fleet_.engines) {
            waiting_.push_back(static_cast<double>(engine.waiting()));
            kv_usage_.push_back(engine.kv_usage());
        }
    }

    Seconds scraped_at_ = 0;
    std::vector<double> waiting_;
    std::vector<double> kv_usage_;
};

}  // namespace

std::unique_ptr<Rival> make_rival_blend(const RivalFleet& fleet) {
    return std::make_unique<Blend>(fleet);
}

}  // namespace prefix_router::sim
