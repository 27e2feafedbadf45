#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace prefix_router::sim {

/// A map from 64-bit ids to 32-bit indices with open addressing and linear probing. A removal
/// shifts the following entries back, so there are no tombstones and look-ups stay short under
/// endless turnover. One allocation, doubled at 1/2 load. Not thread-safe.
class FlatIndex {
  public:
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

    FlatIndex() : entries_(kInitialSize) {}

    std::size_t size() const { return size_; }

    std::uint32_t find(std::uint64_t id) const {
        for (std::size_t at = home(id);; at = next(at)) {
            const Entry& entry = entries_[at];
            if (entry.value == kNone || entry.id == id) return entry.value;
        }
    }

    /// The id must not be present; the value must not be kNone.
    void insert(std::uint64_t id, std::uint32_t value) {
        if (2 * (size_ + 1) > entries_.size()) grow();
        place(id, value);
        ++size_;
    }

    /// Does nothing when the id is not present.
    void erase(std::uint64_t id) {
        std::size_t at = home(id);
        while (entries_[at].value != kNone && entries_[at].id != id) at = next(at);
        if (entries_[at].value == kNone) return;
        --size_;
        for (std::size_t from = next(at); entries_[from].value != kNone; from = next(from)) {
            // An entry may move back only as far as its home.
            if (distance(home(entries_[from].id), from) < distance(at, from)) continue;
            entries_[at] = entries_[from];
            at = from;
        }
        entries_[at].value = kNone;
    }

    void clear() {
        entries_.assign(kInitialSize, Entry{});
        size_ = 0;
    }

  private:
    static constexpr std::size_t kInitialSize = 16;

    struct Entry {
        std::uint64_t id = 0;
        std::uint32_t value = kNone;
    };

    std::size_t mask() const { return entries_.size() - 1; }
    std::size_t next(std::size_t at) const { return (at + 1) & mask(); }
    std::size_t distance(std::size_t from, std::size_t to) const { return (to - from) & mask(); }
    std::size_t home(std::uint64_t id) const {
        // Fibonacci hashing with a fold: dense ids and chained hashes both spread.
        id = (id ^ (id >> 32)) * 0x9e3779b97f4a7c15U;
        return static_cast<std::size_t>(id >> 20) & mask();
    }

    void place(std::uint64_t id, std::uint32_t value) {
        std::size_t at = home(id);
        while (entries_[at].value != kNone) at = next(at);
        entries_[at] = Entry{id, value};
    }

    void grow() {
        std::vector<Entry> old(2 * entries_.size());
        old.swap(entries_);
        for (const Entry& entry : old) {
            if (entry.value != kNone) place(entry.id, entry.value);
        }
    }

    std::vector<Entry> entries_;
    std::size_t size_ = 0;
};

}  // namespace prefix_router::sim
