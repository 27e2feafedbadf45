#include "prefix/slot_table.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace prefix_router::prefix {
namespace {

constexpr std::size_t kSegmentBytes = std::size_t{256} * 1024;
constexpr std::size_t kSlotsPerPage = Reservation::kPageBytes / sizeof(Slot);

unsigned bits_for(std::size_t memory_bytes) {
    const std::size_t segments = std::bit_ceil(memory_bytes / kSegmentBytes);
    return std::clamp(static_cast<unsigned>(std::bit_width(segments)) - 1, 1U, 20U);
}

/// Twice the even share, in whole pages: hashes spread evenly, and address space is free.
std::size_t stride_for(std::size_t memory_bytes, unsigned segment_bits) {
    const std::size_t share = 2 * (memory_bytes >> segment_bits);
    return (share / Reservation::kPageBytes + 4) * kSlotsPerPage;
}

/// 91 %: with growth by pages, 17.9 B per slot used. At 95 % it would be 17.0 B, but a search
/// passes 9 slots instead of 4.5 and takes twice the time in a table that no cache holds, and an
/// insertion shifts 200 slots instead of 50.
std::uint32_t fill_limit(std::size_t slots) {
    return static_cast<std::uint32_t>(slots * 58 / 64);
}

/// Room at the end for slots that are displaced over the last home.
std::uint32_t tail(std::size_t slots) {
    return static_cast<std::uint32_t>(std::max<std::size_t>(16, slots / 128));
}

/// The fewest pages that hold `used` slots and some insertions more.
std::size_t pages_for(std::size_t used) {
    const std::size_t wanted = used + std::max<std::size_t>(8, used / 64);
    return (wanted * 64 / 58 + kSlotsPerPage) / kSlotsPerPage;
}

}  // namespace

SlotTable::SlotTable(std::size_t memory_bytes)
    : segment_bits_(bits_for(memory_bytes)),
      stride_(stride_for(memory_bytes, segment_bits_)),
      memory_((stride_ << segment_bits_) * sizeof(Slot)),
      slots_(reinterpret_cast<Slot*>(memory_.data())),
      segments_(std::size_t{1} << segment_bits_) {
    for (std::size_t segment = 0; segment < segments_.size(); ++segment) {
        segments_[segment].first = base(segment);
    }
}

Slot* SlotTable::insert(std::uint64_t key) {
    Segment& segment = segments_[segment_of(key)];
    if (segment.used >= fill_limit(segment.slots)) {
        return nullptr;
    }
    Slot* slot = home(key);
    while (slot->key > key) {
        ++slot;
    }
    Slot* gap = slot;
    while (gap->word != 0) {
        ++gap;
    }
    if (gap == base(segment_of(key)) + segment.slots - 1) {
        return nullptr;
    }
    std::memmove(slot + 1, slot, static_cast<std::size_t>(gap - slot) * sizeof(Slot));
    *slot = Slot{key, 0};
    ++segment.used;
    return slot;
}

void SlotTable::remove(Slot* slot) {
    const std::size_t index = segment_of(slot->key);
    Segment& segment = segments_[index];
    const Slot* first = base(index);
    Slot* end = slot + 1;
    while (end->word != 0 && first + home_in(segment, end->key) < end) {
        ++end;
    }
    std::memmove(slot, slot + 1, static_cast<std::size_t>(end - slot - 1) * sizeof(Slot));
    *(end - 1) = Slot{};
    --segment.used;
}

void SlotTable::fit(std::size_t segment, SlotFilter& filter, std::size_t room, std::size_t budget) {
    const bool has_changed = collect(segment, filter);
    const std::size_t current = segments_[segment].slots / kSlotsPerPage;
    const std::size_t most =
        std::min(stride_ / kSlotsPerPage, current + budget / Reservation::kPageBytes);
    std::size_t pages = std::min(pages_for(scratch_.size() + room), most);
    if (pages == current && !has_changed) {
        return;
    }
    ++fits_;
    // What fits now fits again into as many pages; fewer, or more, may lack room at the end.
    while (!spread(segment, pages)) {
        pages = pages == most && most > current ? current : pages + 1;
    }
}

/// Copies to scratch_ what the filter keeps; false when that is what there was.
bool SlotTable::collect(std::size_t segment, SlotFilter& filter) {
    scratch_.clear();
    // A vector that doubled would take a quarter of a small map at once.
    const std::size_t used = segments_[segment].used;
    if (scratch_.capacity() < used) {
        scratch_.reserve(used + used / 16);
    }
    bool has_changed = false;
    const Slot* slot = base(segment);
    for (const Slot* end = slot + segments_[segment].slots; slot != end; ++slot) {
        if (slot->word == 0) {
            continue;
        }
        const std::uint64_t word = filter.keep(*slot);
        has_changed |= word != slot->word;
        if (word != 0) {
            scratch_.push_back(Slot{slot->key, word});
        }
    }
    return has_changed;
}

/// Lays the collected slots out over `pages` pages; false when the last ones find no room.
bool SlotTable::spread(std::size_t segment, std::size_t pages) {
    const std::size_t before = segments_[segment].slots / kSlotsPerPage;
    const std::size_t slots = pages * kSlotsPerPage;
    Segment next;
    next.first = base(segment);
    next.slots = static_cast<std::uint32_t>(slots);
    next.homes = pages == 0 ? 0 : next.slots - tail(slots);
    next.used = static_cast<std::uint32_t>(scratch_.size());
    std::size_t position = 0;
    for (const Slot& slot : scratch_) {
        position = std::max<std::size_t>(position, home_in(next, slot.key)) + 1;
    }
    if (position + 1 > slots && position != 0) {
        return false;
    }
    Slot* first = next.first;
    std::memset(static_cast<void*>(first), 0, std::min(before, pages) * Reservation::kPageBytes);
    position = 0;
    for (const Slot& slot : scratch_) {
        position = std::max<std::size_t>(position, home_in(next, slot.key));
        first[position++] = slot;
    }
    if (pages < before) {
        memory_.discard((segment * stride_ + slots) * sizeof(Slot),
                        (before - pages) * Reservation::kPageBytes);
    }
    segments_[segment] = next;
    pages_ += pages - before;
    return true;
}

std::size_t SlotTable::bytes() const {
    return pages_ * Reservation::kPageBytes + segments_.capacity() * sizeof(Segment) +
           scratch_.capacity() * sizeof(Slot);
}

}  // namespace prefix_router::prefix
