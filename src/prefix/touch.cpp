#include <algorithm>

#include "prefix/table.hpp"
#include "prefix/walk.hpp"

namespace prefix_router::prefix {

void PrefixMap::Table::touch(const Chain& chain, std::size_t backend, std::size_t from) {
    touch_blocks<Pinning::Keep>(chain, backend, from, 0);
}
void PrefixMap::Table::touch_and_pin(const Chain& chain, std::size_t backend,
                                     std::size_t believed) {
    touch_blocks<Pinning::Add>(chain, backend, 0, believed);
}
void PrefixMap::Table::unpin_and_touch(const Chain& chain, std::size_t backend, std::size_t from) {
    touch_blocks<Pinning::Drop>(chain, backend, from, 0);
}

void PrefixMap::Table::fill(std::size_t backend, Tokens tokens) {
    History* history = present(backend);
    if (history == nullptr || tokens <= 0) {
        return;
    }
    history->activity.note(now_, window_, history->timeline);
    history->timeline.push(static_cast<std::uint32_t>(std::min(tokens, history->capacity)));
    if (history->timeline.newest() > options_.renumber_after) {
        renumber(backend);
    }
    settle(backend);
}

/// A copy that the table has, as the youngest of its backend.
template <PrefixMap::Table::Pinning kPinning>
inline Copy PrefixMap::Table::touched(History& history, std::uint64_t key, Copy copy,
                                      std::uint32_t tokens) {
    Timeline& timeline = history.timeline;
    if (kPinning == Pinning::Drop && copy.pins() != 0) {
        copy = drop_pin(history, key, copy);
    }
    if (!timeline.take_again(copy.stamp(), copy.tokens())) {
        leave_old_place(history, copy);
    }
    if (copy.tokens() != tokens) {
        history.pinned += copy.pins() != 0 ? Tokens{tokens} - Tokens{copy.tokens()} : 0;
        copy = copy.with_tokens(tokens);
    }
    copy = copy.with_stamp(timeline.push(tokens));
    return kPinning == Pinning::Add ? add_pin(history, key, copy) : copy;
}

/// One pass does all: finding a block costs more than changing its copy.
template <PrefixMap::Table::Pinning kPinning>
void PrefixMap::Table::touch_blocks(const Chain& chain, std::size_t backend, std::size_t from,
                                    std::size_t believed) {
    constexpr bool kIsSent = kPinning == Pinning::Add;
    History* history = present(backend);
    if (history == nullptr || from >= chain.hashes.size()) {
        return;
    }
    Timeline& timeline = history->timeline;
    history->activity.note(now_, window_, timeline);
    std::size_t added = 0;
    for (Walk walk(slots_, chain, from); walk.next();) {
        const std::uint32_t tokens = tokens_of(chain, walk.block());
        Slot* slot = walk.find();
        std::uint64_t* word = find_copy(slot, backend);
        if (word == nullptr) {
            const Copy bare = Copy::make(backend, tokens, timeline.push(tokens));
            const Copy copy = kIsSent ? bare.with_pins(1) : bare.with_computed();
            added += add_block(slot, walk.key(), copy) ? 1U : 0U;
            walk.renew();
            continue;
        }
        Copy copy(*word);
        if (!kIsSent) {
            copy = copy.with_computed();
        } else if (walk.block() >= believed) {
            copy = copy.without_computed();
        }
        *word = touched<kPinning>(*history, walk.key(), copy, tokens).word();
    }
    if (timeline.newest() > options_.renumber_after) {
        renumber(backend);
    }
    settle(backend);
    sweep(chain.hashes.size() - from, added);
}

/// Takes a copy that is about to be touched out of its bucket, if it is still in one.
void PrefixMap::Table::leave_old_place(History& history, Copy copy) {
    Timeline& timeline = history.timeline;
    const Timeline::Sequence sequence = timeline.sequence(copy.stamp());
    if (sequence >= timeline.oldest()) {
        timeline.take(sequence, copy.tokens());
    } else if (sequence < timeline.first()) {
        ++history.held;
        ++held_;
    }
}

/// A copy of a block that its backend lacks, already counted as touched. False: no memory.
bool PrefixMap::Table::add_block(Slot* slot, std::uint64_t key, Copy copy) {
    History& history = *histories_[copy.backend()];
    if (!put(slot, key, copy)) {
        history.timeline.take(history.timeline.sequence(copy.stamp()), copy.tokens());
        return false;
    }
    ++history.held;
    ++held_;
    if (copy.pins() != 0) {
        history.pinned += copy.tokens();
        ++history.pinned_copies;
    }
    return true;
}

}  // namespace prefix_router::prefix
