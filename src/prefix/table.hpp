#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "prefix_router/base/ids.hpp"
#include "prefix_router/prefix/prefix_map.hpp"

#include "prefix/activity.hpp"
#include "prefix/copy.hpp"
#include "prefix/copy_sets.hpp"
#include "prefix/slot_table.hpp"
#include "prefix/timeline.hpp"

namespace prefix_router::prefix {

/// The map itself: block -> copies (SlotTable, CopySets), and per backend the order of touches
/// (Timeline). A copy is alive while its backend's timeline remembers its stamp; nothing visits the
/// copies that a timeline forgets (ghosts too old, a backend cleared or removed): they count for
/// nothing from then on and leave the table when their segment fills up or the sweep comes by.
///
/// Pinned copies stay in the table even when forgotten, so that pins pair exactly. While pinned, a
/// copy that was only pushed out by younger ones is believed cached: engines do not evict blocks in
/// use. A backend that is cleared keeps the pins, not the belief.
///
/// table.cpp: backends, erase; touch.cpp: touch; match.cpp: match, distances; pins.cpp: pins;
/// upkeep.cpp: memory bound, sweep, renumbering.
class PrefixMap::Table final : private SlotFilter {
  public:
    explicit Table(const Options& options);

    void add_backend(std::size_t backend, Tokens capacity);
    void remove_backend(std::size_t backend);
    void clear_backend(std::size_t backend);
    void set_capacity(std::size_t backend, Tokens capacity);
    Tokens capacity(std::size_t backend) const;

    void match(const Chain& chain, std::span<const BackendSlot> backends,
               std::span<Match> out) const;
    std::size_t copies(std::uint64_t hash) const;
    void distances(const Chain& chain, std::size_t backend, std::vector<StackDistance>& out) const;
    void touch(const Chain& chain, std::size_t backend, std::size_t from);
    void touch_and_pin(const Chain& chain, std::size_t backend, std::size_t believed);
    void unpin_and_touch(const Chain& chain, std::size_t backend, std::size_t from);
    void fill(std::size_t backend, Tokens tokens);
    void erase(const Chain& chain, std::size_t backend, std::size_t from);

    void unpin_computed(const Chain& chain, std::size_t backend);
    void unpin_failed(const Chain& chain, std::size_t backend);
    Tokens pinned(std::size_t backend) const;

    void tick(double now, double window);
    Tokens working_set(std::size_t backend) const;
    Tokens resident(std::size_t backend) const;
    std::size_t entries() const { return held_; }
    std::size_t memory_bytes() const;

  private:
    class Search;
    class Walk;

    /// What is known about one backend. Outlives it: its stamps go on, so that nothing of a former
    /// backend in the same place is alive.
    struct History {
        bool is_present = false;
        Tokens capacity = 0;
        Timeline timeline;
        Activity activity;
        std::size_t held = 0;  ///< its copies in the table, ghosts included
        Tokens pinned = 0;
        std::size_t pinned_copies = 0;
        std::uint64_t renumbered_by = 0;  ///< value of swept_ when its old numbering is gone
        std::size_t bytes = 0;
        mutable Tokens working_set = 0;
        mutable std::uint64_t working_set_at = 0;  ///< value of time_step_; 0: not known
    };

    static constexpr Timeline::Sequence kNothing = ~Timeline::Sequence{0};
    /// The part of a history that match() needs, densely packed.
    struct Residency {
        Timeline::Stamp parity = 0;
        Timeline::Sequence cutoff = kNothing;  ///< older: believed only when pinned
        Timeline::Sequence first = kNothing;
    };

    static std::uint64_t key_of(std::uint64_t hash);
    static std::uint32_t tokens_of(const Chain& chain, std::size_t block);

    History* present(std::size_t backend);
    const History* present(std::size_t backend) const;
    std::uint64_t* find_copy(Slot* slot, std::size_t backend) const;
    std::uint64_t* find_in_set(std::uint64_t set, std::size_t backend) const;
    bool is_believed(Copy copy) const;

    /// What a touch does beside touching.
    enum class Pinning : std::uint8_t { Keep, Add, Drop };
    template <Pinning kPinning>
    void touch_blocks(const Chain& chain, std::size_t backend, std::size_t from,
                      std::size_t believed);
    enum class Erased : std::uint8_t { All, Uncomputed };
    void erase_copies(const Chain& chain, std::size_t backend, std::size_t from, Erased which);
    template <class Change>
    void drop_pins(const Chain& chain, std::size_t backend, Change change);
    template <Pinning kPinning>
    Copy touched(History& history, std::uint64_t key, Copy copy, std::uint32_t tokens);
    void leave_old_place(History& history, Copy copy);
    bool add_block(Slot* slot, std::uint64_t key, Copy copy);
    bool put(Slot* slot, std::uint64_t key, Copy copy);
    std::uint64_t displace(std::uint64_t word, Copy copy);
    void remove_copy(Slot* slot, const std::uint64_t* word);
    void uncount(Copy copy);
    void settle(std::size_t backend);
    void publish(std::size_t backend);

    Copy add_pin(History& history, std::uint64_t key, Copy copy);
    Copy drop_pin(History& history, std::uint64_t key, Copy copy);
    Copy count_pins(std::uint64_t key, Copy copy, int change);

    std::uint64_t keep(const Slot& slot) override;
    std::uint64_t keep_copy(Copy copy);
    Slot* insert_slot(std::uint64_t key);
    std::size_t budget() const;
    bool shed();
    void sweep(std::size_t touched, std::size_t added);
    void sweep_segment();
    void purge(std::size_t backend);
    void renumber(std::size_t backend);
    void share_out_buckets();

    /// Exact numbers of pins from Copy::kManyPins on.
    struct ManyPinsKey {
        std::uint64_t key;
        std::size_t backend;
        bool operator==(const ManyPinsKey&) const = default;
    };
    struct ManyPinsHash {
        std::size_t operator()(const ManyPinsKey& key) const { return key.key ^ key.backend; }
    };

    Options options_;
    SlotTable slots_;
    CopySets sets_;
    std::vector<std::unique_ptr<History>> histories_;
    std::vector<Residency> residency_;
    std::unordered_map<ManyPinsKey, std::uint32_t, ManyPinsHash> many_pins_;
    std::size_t held_ = 0;
    std::size_t history_bytes_ = 0;

    double level_;                  ///< lowers ghost_factor while memory is short
    std::size_t purged_;            ///< a backend whose copies go even when pinned
    std::size_t sweep_hand_ = 0;    ///< next segment
    std::size_t sweep_credit_ = 0;  ///< slots that may be visited, in eighths
    std::uint64_t swept_ = 0;       ///< segments visited since the start
    std::size_t renumbering_ = 0;   ///< backends with copies under an old numbering

    double now_ = 0;
    double window_ = 120;
    double time_step_began_ = 0;
    std::uint64_t time_step_ = 1;
};

/// Spreads any hashes evenly (trace files have small integers). Invertible: nothing is confused.
inline std::uint64_t PrefixMap::Table::key_of(std::uint64_t hash) {
    hash *= 0x9e3779b97f4a7c15U;
    hash ^= hash >> 32;
    return ~(hash * 0xd6e8feb86659fd93U);
}

inline std::uint32_t PrefixMap::Table::tokens_of(const Chain& chain, std::size_t block) {
    const std::uint32_t end = chain.tokens[block];
    const std::uint32_t begin = block == 0 ? 0 : chain.tokens[block - 1];
    return end > begin ? std::min(end - begin, Copy::kMaxTokens) : 0;
}

inline std::uint64_t* PrefixMap::Table::find_copy(Slot* slot, std::size_t backend) const {
    if (slot == nullptr) {
        return nullptr;
    }
    if (is_set(slot->word)) {
        return find_in_set(slot->word, backend);
    }
    return Copy::backend_of(slot->word) == backend ? &slot->word : nullptr;
}

inline Copy PrefixMap::Table::add_pin(History& history, std::uint64_t key, Copy copy) {
    if (copy.pins() == 0) {
        history.pinned += copy.tokens();
        ++history.pinned_copies;
    }
    return copy.pins() + 1 < Copy::kManyPins ? copy.with_pin_more() : count_pins(key, copy, 1);
}

/// Takes one of the copy's pins.
inline Copy PrefixMap::Table::drop_pin(History& history, std::uint64_t key, Copy copy) {
    if (copy.pins() == 1) {
        history.pinned -= copy.tokens();
        --history.pinned_copies;
    }
    return copy.pins() < Copy::kManyPins ? copy.with_pin_less() : count_pins(key, copy, -1);
}

inline bool PrefixMap::Table::is_believed(Copy copy) const {
    const Residency& residency = residency_[copy.backend()];
    Timeline::Sequence sequence = copy.stamp() ^ residency.parity;
    if ((sequence >> 31) != 0) {
        sequence = histories_[copy.backend()]->timeline.sequence(copy.stamp());
    }
    return sequence >= residency.cutoff || (copy.pins() != 0 && sequence >= residency.first);
}

}  // namespace prefix_router::prefix
