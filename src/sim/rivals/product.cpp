#include "sim/rivals/counted_rival.hpp"

namespace prefix_router::sim {
namespace {

/// LMetric: the least (uncached tokens queued and own) x (requests in flight + 1).
class Product final : public QueueTrackingRival {
  public:
    explicit Product(const RivalFleet& fleet)
        : QueueTrackingRival(fleet, fleet.believed_blocks()) {}

    std::size_t choose(const Prompt& prompt, Seconds) override {
        std::vector<Tokens> costs;
        for (std::size_t k = 0; k < fleet_.size(); ++k) {
            const Tokens own = own_tokens(prompt, indexes_[k].match(prompt.blocks));
            costs.push_back((queued_[k] + own) * (in_flight_[k] + 1));
        }
        return pick_least(costs, random_);
    }
};

}  // namespace

std::unique_ptr<Rival> make_rival_product(const RivalFleet& fleet) {
    return std::make_unique<Product>(fleet);
}

}  // namespace prefix_router::sim
