#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "prefix/reservation.hpp"

namespace prefix_router::prefix {

/// A key and what stands for it; word 0 is an empty slot.
struct Slot {
    std::uint64_t key = 0;
    std::uint64_t word = 0;
};

/// What to do with a slot when its segment is rebuilt.
class SlotFilter {
  public:
    /// The word to keep in the slot; 0 drops it.
    virtual std::uint64_t keep(const Slot& slot) = 0;

  protected:
    ~SlotFilter() = default;
};

/// A hash table of 16-byte slots for uniformly distributed 64-bit keys, filled to 91 %.
///
/// The high bits of a key choose a segment (at most 256 KB, so that no rebuild stops the caller for
/// longer than some 50 us), the next 32 bits its home in it. Slots lie in descending order of keys
/// at or after their homes without gaps in between (linear probing in Robin Hood order, where the
/// home grows as the key falls): a search ends at the first key that is not larger, and an empty
/// slot's, 0, is none; a removal shifts back, a rebuild is one sequential pass. A full segment is
/// never grown silently: insert() fails and the owner calls fit(), which drops what the filter
/// gives up and adds or returns pages. Pointers to slots hold until the next insert, remove or fit.
class SlotTable {
  public:
    /// `memory_bytes`: the size to lay the segments out for.
    explicit SlotTable(std::size_t memory_bytes);

    /// A key and where the search for it begins; good until a fit.
    struct Place {
        std::uint64_t key;
        Slot* home;
    };
    /// Fetches the place, too: find() is quick once that has come.
    Place locate(std::uint64_t key) const {
        Slot* slot = home(key);
        __builtin_prefetch(slot);
        __builtin_prefetch(slot + 4);
        return {key, slot};
    }
    /// Fits so far: places located before the last one are not good any more.
    std::uint64_t fits() const { return fits_; }

    Slot* find(const Place& place) const {
        Slot* slot = place.home;
        while (slot->key > place.key) {
            ++slot;
        }
        return slot->key == place.key && slot->word != 0 ? slot : nullptr;
    }
    Slot* find(std::uint64_t key) const { return find(Place{key, home(key)}); }

    /// A slot for an absent key, to be given a word at once; nullptr when its segment is full.
    Slot* insert(std::uint64_t key);
    void remove(Slot* slot);

    std::size_t segment_count() const { return segments_.size(); }
    std::size_t segment_of(std::uint64_t key) const {
        return static_cast<std::size_t>(~key >> (64 - segment_bits_));
    }
    std::size_t slot_count(std::size_t segment) const { return segments_[segment].slots; }

    /// Filters a segment and fits its size to what is left, `room` more slots and a margin, taking
    /// at most `budget` more bytes.
    void fit(std::size_t segment, SlotFilter& filter, std::size_t room, std::size_t budget);

    std::size_t bytes() const;

  private:
    struct Segment {
        Slot* first = nullptr;
        std::uint32_t homes = 0;  ///< slots that can be a home; the rest takes displaced ones
        std::uint32_t slots = 0;  ///< the last one is always empty: it ends every search
        std::uint32_t used = 0;
    };

    Slot* base(std::size_t segment) const { return slots_ + segment * stride_; }
    std::uint32_t home_in(const Segment& segment, std::uint64_t key) const {
        return static_cast<std::uint32_t>((((~key << segment_bits_) >> 32) * segment.homes) >> 32);
    }
    Slot* home(std::uint64_t key) const {
        const std::size_t segment = segment_of(key);
        return segments_[segment].first + home_in(segments_[segment], key);
    }
    bool collect(std::size_t segment, SlotFilter& filter);
    bool spread(std::size_t segment, std::size_t pages);

    unsigned segment_bits_;
    std::size_t stride_;  ///< slots from one segment to the next
    Reservation memory_;
    Slot* slots_;
    std::vector<Segment> segments_;
    std::vector<Slot> scratch_;
    std::size_t pages_ = 0;
    std::uint64_t fits_ = 0;
};

}  // namespace prefix_router::prefix
