#include <algorithm>

#include "prefix/table.hpp"

namespace prefix_router::prefix {

void PrefixMap::Table::pin(const Chain& chain, std::size_t backend) {
    History* history = present(backend);
    if (history == nullptr) {
        return;
    }
    for (std::size_t block = chain.hashes.size(); block-- > 0;) {
        const std::uint64_t key = key_of(chain.hashes[block]);
        Slot* slot = slots_.find(key);
        std::uint64_t* word = find_copy(slot, backend);
        const Copy absent = Copy::make(backend, tokens_of(chain, block),
                                       history->timeline.stamp(Timeline::kCleared));
        Copy pinned = word == nullptr ? absent : Copy(*word);
        bool is_pinned = true;
        if (word == nullptr) {
            is_pinned = put(slot, key, absent.with_pins(1));
        } else if (pinned.pins() == 0 &&
                   history->timeline.sequence(pinned.stamp()) < history->timeline.oldest()) {
            uncount(pinned);  // forgotten, though still in the table
            pinned = absent;
            *word = absent.with_pins(1).word();
        } else {
            *word = with_pins(key, pinned, pins(key, pinned) + 1).word();
        }
        if (is_pinned && pinned.pins() == 0) {
            history->pinned += pinned.tokens();
            ++history->pinned_copies;
        }
    }
    publish(backend);
}

void PrefixMap::Table::unpin(const Chain& chain, std::size_t backend) {
    History* history = present(backend);
    if (history == nullptr) {
        return;
    }
    for (std::size_t block = chain.hashes.size(); block-- > 0;) {
        const std::uint64_t key = key_of(chain.hashes[block]);
        Slot* slot = slots_.find(key);
        std::uint64_t* word = find_copy(slot, backend);
        if (word == nullptr || Copy(*word).pins() == 0) {
            continue;
        }
        const Copy copy(*word);
        const std::uint32_t left = pins(key, copy) - 1;
        *word = with_pins(key, copy, left).word();
        if (left > 0) {
            continue;
        }
        history->pinned -= copy.tokens();
        --history->pinned_copies;
        if (history->timeline.sequence(copy.stamp()) < history->timeline.first()) {
            remove_copy(slot, word);
        }
    }
    publish(backend);
}

Tokens PrefixMap::Table::pinned(std::size_t backend) const {
    const History* history = present(backend);
    return history == nullptr ? 0 : history->pinned;
}

std::uint32_t PrefixMap::Table::pins(std::uint64_t key, Copy copy) const {
    return copy.pins() == Copy::kManyPins ? many_pins_.at({key, copy.backend()}) : copy.pins();
}

Copy PrefixMap::Table::with_pins(std::uint64_t key, Copy copy, std::uint32_t pins) {
    if (pins >= Copy::kManyPins) {
        many_pins_[{key, copy.backend()}] = pins;
    } else if (copy.pins() == Copy::kManyPins) {
        many_pins_.erase({key, copy.backend()});
    }
    return copy.with_pins(std::min(pins, Copy::kManyPins));
}

}  // namespace prefix_router::prefix
