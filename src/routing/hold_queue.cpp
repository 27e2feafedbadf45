#include "routing/hold_queue.hpp"

#include <algorithm>

namespace prefix_router::routing {
namespace {

constexpr std::size_t kMostSeen = 4'096;

Seconds limit(std::chrono::milliseconds wait) {
    return wait.count() == 0 ? HoldQueue::kNever : to_seconds(wait);
}

}  // namespace

HoldQueue::Rules HoldQueue::rules(const config::Routing& routing, const config::Queue& queue) {
    Rules rules;
    rules.is_on = routing.hold.has_value() && routing.strategy == config::Strategy::Adaptive &&
                  queue.max_requests > 0;
    rules.is_auto = !routing.hold || routing.hold->count() == 0;
    if (!rules.is_auto) {
        rules.theta = to_seconds(*routing.hold);
    }
    rules.small = to_seconds(routing.hold_small);
    rules.age = routing.hold_age;
    rules.most_requests = queue.max_requests;
    if (queue.max_bytes > 0) {
        rules.most_bytes = queue.max_bytes;
    }
    rules.longest = {limit(queue.max_wait_high.value_or(queue.max_wait)), limit(queue.max_wait),
                     limit(queue.max_wait_low.value_or(queue.max_wait))};
    return rules;
}

std::size_t HoldQueue::size_down_to(config::Priority priority) const {
    std::size_t sum = 0;
    for (std::size_t i = 0; i <= static_cast<std::size_t>(priority); ++i) {
        sum += classes_[i].size();
    }
    return sum;
}

std::size_t HoldQueue::bytes() const {
    std::size_t sum = 0;
    for (const HoldClass& each : classes_) {
        sum += each.bytes();
    }
    return sum;
}

void HoldQueue::insert(Record& record, Seconds now) {
    of(record.ticket->ask().priority).insert(record);
    if (size_ == 0) {
        drain_.begin(now);
    }
    ++size_;
    expiries_.insert(record);
}

void HoldQueue::remove(Record& record, Leaves leaves, Seconds now) {
    expiries_.erase(expiries_.iterator_to(record));
    of(record.ticket->ask().priority).remove(record, leaves);
    if (leaves == Leaves::Sent) {
        drain_.went(now);
    }
    if (--size_ == 0) {
        drain_.end(now);
    }
}

void HoldQueue::choose(Record& record, BackendSlot wants, Seconds own) {
    record.wants = wants;
    if (own == record.wants_own) {
        return;
    }
    auto& records = record.line->records;
    records.erase(records.iterator_to(record));
    record.wants_own = own;
    record.key = key(own, record.arrived, record.key.order);
    records.insert(record);
}

HoldPass& HoldQueue::walk() {
    pass_.begin(classes_);
    return pass_;
}

std::size_t HoldQueue::add_before(const Record& newcomer, std::span<Seconds> work,
                                  std::span<std::uint32_t> count) {
    const Ask& ask = newcomer.ticket->ask();
    const auto priority = static_cast<std::size_t>(ask.priority);
    HoldClass& own = of(ask.priority);
    const HoldTenant* const tenant = own.find(ask.tenant);
    HoldPass& pass = walk();
    for (std::size_t seen = 0;; ++seen) {
        const Seconds tag = pass.tag_of(own, tenant);
        const HoldPass::Step step = pass.next();
        const bool is_behind =
            step.record == nullptr || step.priority > priority ||
            (step.priority == priority &&
             (step.tag > tag || (step.tag == tag && !(step.record->key < newcomer.key))));
        if (is_behind || seen == kMostSeen) {
            return seen;
        }
        const std::size_t slot = step.record->wants.index();
        work[slot] += step.record->wants_own;
        ++count[slot];
    }
}

bool HoldQueue::fits(const Record& record, std::size_t fewer, std::size_t fewer_bytes) const {
    return size_ - fewer < rules_.most_requests &&
           bytes() - fewer_bytes + record.ticket->ask().bytes <= rules_.most_bytes;
}

bool HoldQueue::has_room_for(const Record& record) const {
    std::size_t lower = 0;
    std::size_t lower_bytes = 0;
    for (auto i = static_cast<std::size_t>(record.ticket->ask().priority) + 1; i < classes_.size();
         ++i) {
        lower += classes_[i].size();
        lower_bytes += classes_[i].bytes();
    }
    return fits(record, lower, lower_bytes);
}

Record* HoldQueue::gives_way_to(const Record& record) {
    if (fits(record, 0, 0)) {
        return nullptr;
    }
    const auto priority = static_cast<std::size_t>(record.ticket->ask().priority);
    for (std::size_t i = classes_.size() - 1; i > priority; --i) {
        if (Record* const youngest = classes_[i].youngest()) {
            return youngest;
        }
    }
    return nullptr;
}

Record* HoldQueue::expired(Seconds now) {
    const auto first = expiries_.begin();
    return first != expiries_.end() && first->expires <= now ? &*first : nullptr;
}

Record* HoldQueue::first_below(config::Priority priority,
                               const std::function<bool(const Record&)>& accepts) {
    Record* oldest = nullptr;
    for (auto i = static_cast<std::size_t>(priority) + 1; i < classes_.size(); ++i) {
        for (const auto& model : classes_[i].models()) {
            Record& first = *model->lines.begin()->records.begin();
            if (accepts(first) && (oldest == nullptr || first.key.order < oldest->key.order)) {
                oldest = &first;
            }
        }
    }
    return oldest;
}

}  // namespace prefix_router::routing
