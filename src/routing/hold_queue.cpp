#include "routing/hold_queue.hpp"

namespace prefix_router::routing {

HoldQueue::Rules HoldQueue::rules(const config::Routing& routing, std::size_t limit) {
    Rules rules;
    rules.is_on = routing.hold.has_value() && routing.strategy == config::Strategy::Adaptive;
    rules.is_auto = !routing.hold || routing.hold->count() == 0;
    if (!rules.is_auto) {
        rules.theta = to_seconds(*routing.hold);
    }
    rules.small = to_seconds(routing.hold_small);
    rules.age = routing.hold_age;
    rules.limit = limit;
    return rules;
}

void HoldQueue::insert(Record& record) {
    order_.insert(record);
    ++size_;
}

void HoldQueue::remove(Record& record) {
    order_.erase(order_.iterator_to(record));
    --size_;
}

void HoldQueue::choose(Record& record, BackendSlot wants, Seconds own) {
    record.wants = wants;
    if (own == record.wants_own) {
        return;
    }
    order_.erase(order_.iterator_to(record));
    record.wants_own = own;
    record.key = key(own, record.arrived, record.key.order);
    order_.insert(record);
}

void HoldQueue::add_ahead(const HoldKey& key, std::span<Seconds> ahead) const {
    for (const Record& held : order_) {
        if (!(held.key < key)) {
            return;
        }
        ahead[held.wants.index()] += held.wants_own;
    }
}

}  // namespace prefix_router::routing
