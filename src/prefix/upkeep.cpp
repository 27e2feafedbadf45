#include <algorithm>

#include "prefix/table.hpp"

namespace prefix_router::prefix {
namespace {

constexpr std::size_t kNoBackend = ~std::size_t{0};
/// Credit that buys the visit of one slot. A block that is added buys one, since only what is added
/// makes others forgotten; one that is touched buys an eighth, so that what a cleared backend held
/// goes, too.
constexpr std::size_t kCreditOfOne = 8;
/// Slots visited per block touched until the pass of a renumbering is over.
constexpr std::size_t kRenumberingCredit = 16;
/// What pinned copies may take beyond the bound, once all else is gone; requests in flight bound
/// it.
constexpr std::size_t kLastResort = 2 * Reservation::kPageBytes;
constexpr std::size_t kRounds = 8;

}  // namespace

std::size_t PrefixMap::Table::memory_bytes() const {
    // A node of the side table: two words of links beside the pair.
    const std::size_t many_pins = many_pins_.size() * (sizeof(ManyPinsKey) + 4 * sizeof(void*));
    return sizeof(Table) + slots_.bytes() + sets_.bytes() + history_bytes_ + many_pins +
           residency_.capacity() * (sizeof(Residency) + sizeof(void*));
}

/// Bytes by which the slots may grow; a sixteenth is left to sets and timelines.
std::size_t PrefixMap::Table::budget() const {
    const std::size_t most = options_.memory_bytes - options_.memory_bytes / 16;
    const std::size_t used = memory_bytes();
    return used < most ? most - used : 0;
}

/// A slot for an absent block. Its segment, when full, drops what is forgotten and grows; at the
/// memory bound the oldest blocks are forgotten until there is room.
Slot* PrefixMap::Table::insert_slot(std::uint64_t key) {
    const std::size_t segment = slots_.segment_of(key);
    Slot* slot = slots_.insert(key);
    for (std::size_t round = 0; slot == nullptr && round < kRounds; ++round) {
        const bool is_last = round + 1 == kRounds;
        if (round > 0 && budget() < Reservation::kPageBytes) {
            shed();
        }
        const std::size_t room = round * Reservation::kPageBytes / sizeof(Slot) / 2;
        slots_.fit(segment, *this, room, is_last ? kLastResort : budget());
        slot = slots_.insert(key);
    }
    return slot;
}

/// Forgets the oldest blocks of the backends that hold most relative to their capacity, by a 32nd.
/// False when there is nothing to forget.
bool PrefixMap::Table::shed() {
    double fullest = 0;
    for (const auto& history : histories_) {
        if (history != nullptr && history->is_present) {
            const double capacity = static_cast<double>(history->capacity) + 1;
            fullest = std::max(fullest, static_cast<double>(history->timeline.total()) / capacity);
        }
    }
    if (fullest == 0) {
        return false;
    }
    level_ = fullest * 31 / 32;
    for (std::size_t backend = 0; backend < histories_.size(); ++backend) {
        if (present(backend) != nullptr) {
            settle(backend);
        }
    }
    return true;
}

std::uint64_t PrefixMap::Table::keep(const Slot& slot) {
    if (!is_set(slot.word)) {
        return keep_copy(Copy(slot.word));
    }
    const std::span<std::uint64_t> copies = sets_.view(slot.word);
    std::size_t kept = 0;
    for (const std::uint64_t word : copies) {
        const std::uint64_t renewed = keep_copy(Copy(word));
        if (renewed != 0) {
            copies[kept++] = renewed;
        }
    }
    if (kept == copies.size()) {
        return slot.word;
    }
    if (kept == 0) {
        sets_.release(slot.word);
        return 0;
    }
    return sets_.truncate(slot.word, kept);
}

/// 0 when the copy is forgotten, else the copy with its stamp in the present numbering.
std::uint64_t PrefixMap::Table::keep_copy(Copy copy) {
    History& history = *histories_[copy.backend()];
    const Timeline::Sequence sequence = history.timeline.sequence(copy.stamp());
    const bool is_dead = copy.pins() == 0 && sequence < history.timeline.oldest();
    if (!is_dead && copy.backend() != purged_) {
        return copy.with_stamp(history.timeline.stamp(sequence)).word();
    }
    if (sequence >= history.timeline.first()) {
        --history.held;
        --held_;
    }
    return 0;
}

/// A little upkeep per touch: drops forgotten copies, gives back memory, renews stamps. A visited
/// segment takes up to some 50 us.
void PrefixMap::Table::sweep(std::size_t touched, std::size_t added) {
    if (memory_bytes() > options_.memory_bytes - options_.memory_bytes / 64) {
        shed();
        sweep_segment();
    }
    sweep_credit_ += renumbering_ > 0 ? touched * kCreditOfOne * kRenumberingCredit
                                      : touched + added * (kCreditOfOne - 1);
    for (;;) {
        const std::size_t cost = (slots_.slot_count(sweep_hand_) + 1) * kCreditOfOne;
        if (cost > sweep_credit_) {
            return;
        }
        sweep_credit_ -= cost;
        sweep_segment();
    }
}

void PrefixMap::Table::sweep_segment() {
    slots_.fit(sweep_hand_, *this, 0, 0);
    sweep_hand_ = (sweep_hand_ + 1) % slots_.segment_count();
    ++swept_;
    if (memory_bytes() < options_.memory_bytes / 8 * 7) {
        level_ = std::min(options_.ghost_factor, level_ * 1.002);
    }
    if (renumbering_ == 0) {
        return;
    }
    for (const auto& history : histories_) {
        if (history != nullptr && history->timeline.has_old_numbering() &&
            swept_ >= history->renumbered_by) {
            history->timeline.forget_old_numbering();
            --renumbering_;
        }
    }
}

/// Removes every copy of a backend, pinned or not, in one pass over the table. Only for a backend
/// that is removed while something is in flight there.
void PrefixMap::Table::purge(std::size_t backend) {
    purged_ = backend;
    for (std::size_t segment = 0; segment < slots_.segment_count(); ++segment) {
        slots_.fit(segment, *this, 0, 0);
    }
    purged_ = kNoBackend;
    std::erase_if(many_pins_,
                  [backend](const auto& pins) { return pins.first.backend == backend; });
    histories_[backend]->pinned = 0;
    histories_[backend]->pinned_copies = 0;
}

/// Counts a backend's stamps anew. The sweep rewrites them within its next round, long before they
/// run out again; should they, the round is finished at once.
void PrefixMap::Table::renumber(std::size_t backend) {
    History& history = *histories_[backend];
    while (history.timeline.has_old_numbering()) {
        sweep_segment();
    }
    history.timeline.renumber();
    history.activity.renumber(history.timeline);
    history.renumbered_by = swept_ + slots_.segment_count();
    ++renumbering_;
}

/// At most an eighth of the memory goes to the buckets of all timelines together.
void PrefixMap::Table::share_out_buckets() {
    const auto is_present = [](const auto& history) {
        return history != nullptr && history->is_present;
    };
    const auto backends = std::count_if(histories_.begin(), histories_.end(), is_present);
    const std::size_t each = options_.memory_bytes / 8 / 2 / sizeof(Timeline::Sequence);
    for (const auto& history : histories_) {
        if (is_present(history)) {
            history->timeline.bound(each / static_cast<std::size_t>(backends));
        }
    }
}

}  // namespace prefix_router::prefix
