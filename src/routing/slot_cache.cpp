#include "routing/slot_cache.hpp"

#include <algorithm>
#include <utility>

namespace prefix_router::routing {
namespace {

constexpr double kLeastSimilarity = 0.1;  // llama.cpp's --slot-prompt-similarity
constexpr Seconds kWorthKeeping = 120;    // as the working set of other engines

Tokens total(const prefix::Chain& chain) {
    return chain.tokens.empty() ? 0 : Tokens{chain.tokens.back()};
}

}  // namespace

void SlotCache::Content::assign(const prefix::Chain& chain) {
    hashes.assign(chain.hashes.begin(), chain.hashes.end());
    tokens.assign(chain.tokens.begin(), chain.tokens.end());
}

/// Hashes stand for whole prefixes, so the common part is found by halving.
prefix::Match SlotCache::Content::common(const prefix::Chain& chain) const {
    std::size_t low = 0;
    std::size_t high = std::min(hashes.size(), chain.hashes.size());
    while (low < high) {
        const std::size_t middle = (low + high) / 2;
        if (hashes[middle] == chain.hashes[middle]) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    prefix::Match match;
    match.blocks = static_cast<std::uint32_t>(low);
    match.tokens = low == 0 ? 0 : Tokens{chain.tokens[low - 1]};
    return match;
}

SlotCache::SlotCache(std::size_t slots) : slots_(std::max<std::size_t>(1, slots)) {}

/// The busy slot whose whole prompt the chain goes on from, or the number of slots.
std::size_t SlotCache::continued(const prefix::Chain& chain) const {
    const auto slot = std::find_if(slots_.begin(), slots_.end(), [&](const Slot& each) {
        const std::size_t blocks = each.content.hashes.size();
        return each.user != nullptr && blocks > 0 && blocks < chain.hashes.size() &&
               each.content.hashes.back() == chain.hashes[blocks - 1];
    });
    return static_cast<std::size_t>(slot - slots_.begin());
}

std::size_t SlotCache::pick(const prefix::Chain& chain) const {
    const auto least = static_cast<Tokens>(kLeastSimilarity * static_cast<double>(total(chain)));
    Tokens longest = least;
    std::size_t similar = slots_.size();
    std::size_t oldest = slots_.size();
    for (std::size_t k = 0; k < slots_.size(); ++k) {
        if (slots_[k].user != nullptr) {
            continue;
        }
        if (oldest == slots_.size() || slots_[k].used < slots_[oldest].used) {
            oldest = k;
        }
        if (const Tokens common = slots_[k].content.common(chain).tokens; common > longest) {
            longest = common;
            similar = k;
        }
    }
    return similar < slots_.size() ? similar : oldest;
}

/// What is found by a request that gets its slot after so many ends of others (at least one): those
/// that run end in the order in which they began, those that wait get the slots before it.
prefix::Match SlotCache::match_after(std::size_t ends, const prefix::Chain& chain) const {
    if (ends > slots_.size()) {
        const std::size_t before = ends - slots_.size() - 1;
        return before < waiting_.size() ? waiting_[before].content.common(chain) : prefix::Match{};
    }
    std::vector<const Slot*> order;
    order.reserve(slots_.size());
    for (const Slot& slot : slots_) {
        order.push_back(&slot);
    }
    const auto nth = order.begin() + static_cast<std::ptrdiff_t>(ends - 1);
    std::nth_element(order.begin(), nth, order.end(),
                     [](const Slot* a, const Slot* b) { return a->used < b->used; });
    return (*nth)->content.common(chain);
}

SlotCache::Outlook SlotCache::outlook(const prefix::Chain& chain, Seconds now) const {
    Outlook outlook;
    const std::size_t own = continued(chain);
    if (own == slots_.size() && !has_free()) {
        outlook.ahead = waiting_.size() + 1;
        outlook.match = match_after(outlook.ahead, chain);
        outlook.kept_slots = static_cast<double>(slots_.size());
        return outlook;
    }
    const Slot& target = slots_[own < slots_.size() ? own : pick(chain)];
    outlook.match = target.content.common(chain);
    for (const Slot& slot : slots_) {
        const double lately = std::max(0.0, 1 - (now - slot.used) / kWorthKeeping);
        if (&slot != &target) {
            outlook.kept_slots += slot.user != nullptr || lately > 0 ? 1 : 0;
        } else if (outlook.match.blocks == 0) {
            outlook.kept_slots += lately;
        }
    }
    return outlook;
}

void SlotCache::take(Slot& slot, User user, Content content, Seconds now) {
    slot.before = std::exchange(slot.content, std::move(content));
    slot.user = user;
    slot.used = now;
    ++busy_;
}

void SlotCache::sent(User user, const prefix::Chain& chain, Seconds now) {
    Content content;
    content.assign(chain);
    if (const std::size_t own = continued(chain); own < slots_.size()) {
        --busy_;  // of the one before, whose end will find no slot
        take(slots_[own], user, std::move(content), now);
    } else if (has_free()) {
        take(slots_[pick(chain)], user, std::move(content), now);
    } else {
        waiting_.push_back({user, std::move(content)});
    }
}

/// The slot of one that has one; one that waits goes.
SlotCache::Slot* SlotCache::leave(User user) {
    std::erase_if(waiting_, [user](const Waiting& waiting) { return waiting.user == user; });
    const auto slot = std::find_if(slots_.begin(), slots_.end(),
                                   [user](const Slot& each) { return each.user == user; });
    return slot == slots_.end() ? nullptr : &*slot;
}

void SlotCache::set_free(Slot& slot, Seconds now) {
    slot.user = nullptr;
    slot.used = now;
    --busy_;
    if (!waiting_.empty()) {
        Waiting first = std::move(waiting_.front());
        waiting_.erase(waiting_.begin());
        take(slot, first.user, std::move(first.content), now);
    }
}

void SlotCache::ended(User user, const prefix::Chain& content, Seconds now) {
    if (Slot* slot = leave(user)) {
        slot->content.assign(content);
        set_free(*slot, now);
    }
}

void SlotCache::withdrawn(User user, Seconds now) {
    if (Slot* slot = leave(user)) {
        std::swap(slot->content, slot->before);
        set_free(*slot, now);
    }
}

void SlotCache::clear() {
    for (Slot& slot : slots_) {
        slot.content = slot.before = {};
    }
}

}  // namespace prefix_router::routing
