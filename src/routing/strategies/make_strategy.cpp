#include "routing/strategies/adaptive.hpp"
#include "routing/strategies/least_outstanding.hpp"
#include "routing/strategies/prefix_aware.hpp"
#include "routing/strategies/random_choice.hpp"
#include "routing/strategies/round_robin.hpp"
#include "routing/strategies/strategy.hpp"

namespace prefix_router::routing {

std::unique_ptr<Strategy> make_strategy(const config::Routing& routing, const View& view) {
    switch (routing.strategy) {
        case config::Strategy::Adaptive:
            return std::make_unique<Adaptive>(view);
        case config::Strategy::PrefixAware:
            return std::make_unique<PrefixAware>(view, routing.concurrency_threshold);
        case config::Strategy::LeastOutstandingRequests:
            return std::make_unique<LeastOutstanding>(view);
        case config::Strategy::RoundRobin:
            return std::make_unique<RoundRobin>(view);
        case config::Strategy::Random:
            return std::make_unique<RandomChoice>(view);
    }
    return std::make_unique<Adaptive>(view);
}

}  // namespace prefix_router::routing
