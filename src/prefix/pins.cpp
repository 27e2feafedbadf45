#include "prefix/table.hpp"

namespace prefix_router::prefix {

void PrefixMap::Table::unpin_computed(const Chain& chain, std::size_t backend) {
    drop_pins(chain, backend, [](Copy copy) { return copy.with_computed(); });
}

void PrefixMap::Table::unpin_failed(const Chain& chain, std::size_t backend) {
    drop_pins(chain, backend, [](Copy copy) { return copy; });
    erase_copies(chain, backend, 0, Erased::Uncomputed);
}

template <class Change>
void PrefixMap::Table::drop_pins(const Chain& chain, std::size_t backend, Change change) {
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
        const Copy copy = change(drop_pin(*history, key, Copy(*word)));
        *word = copy.word();
        if (copy.pins() == 0 &&
            history->timeline.sequence(copy.stamp()) < history->timeline.first()) {
            remove_copy(slot, word);
        }
    }
    publish(backend);
}

Tokens PrefixMap::Table::pinned(std::size_t backend) const {
    const History* history = present(backend);
    return history == nullptr ? 0 : history->pinned;
}

/// One pin more, or one less, for a copy with more pins than its bits can count.
Copy PrefixMap::Table::count_pins(std::uint64_t key, Copy copy, int change) {
    const ManyPinsKey place{key, copy.backend()};
    const auto known = many_pins_.find(place);
    const std::uint32_t before = known == many_pins_.end() ? copy.pins() : known->second;
    const std::uint32_t after = change > 0 ? before + 1 : before - 1;
    if (after < Copy::kManyPins) {
        many_pins_.erase(place);
        return copy.with_pins(after);
    }
    many_pins_[place] = after;
    return copy.with_pins(Copy::kManyPins);
}

}  // namespace prefix_router::prefix
