#include <algorithm>
#include <bitset>

#include "prefix/table.hpp"
#include "prefix/walk.hpp"

namespace prefix_router::prefix {

/// One match(): finds for every wanted backend the depth to which it holds the chain.
///
/// A backend that holds block k holds all before it, so sets of holders shrink along the chain:
/// where two blocks have equally many holders, all in between have the same ones. The search
/// bisects between blocks with different numbers; it looks at about log2(blocks) blocks per
/// distinct depth. Example, 8 blocks, three backends with depths 2, 2 and 6: looks at blocks 1 (3
/// holders), 8 (0), 4 (1), 2 (3), 3 (1), 6 (1), 7 (0).
///
/// The next four levels of the bisection are fetched ahead, so that their memory latencies
/// overlap: a table of 10 million blocks fits in no cache.
class PrefixMap::Table::Search {
  public:
    Search(const Table& table, const Chain& chain, std::span<Match> out)
        : table_(table), chain_(chain), out_(out) {}

    void want(std::size_t backend) { wanted_.set(backend); }

    void run() {
        const std::size_t blocks = chain_.hashes.size();
        if (blocks == 0) {
            return;
        }
        fetch(1);
        fetch(blocks);
        fetch_between(1, blocks, kLevels);
        const std::size_t at_root = holders(1);
        if (at_root > 0 && blocks > 1) {
            narrow({1, at_root}, {blocks, holders(blocks)});
        }
    }

  private:
    static constexpr unsigned kLevels = 4;
    /// A depth in blocks and how many backends hold the chain to it.
    struct Level {
        std::size_t depth;
        std::size_t holders;
    };

    void fetch(std::size_t depth) const { table_.slots_.locate(key_of(chain_.hashes[depth - 1])); }

    void fetch_between(std::size_t low, std::size_t high, unsigned levels) const {
        if (levels == 0 || high - low < 2) {
            return;
        }
        const std::size_t middle = (low + high) / 2;
        fetch(middle);
        fetch_between(low, middle, levels - 1);
        fetch_between(middle, high, levels - 1);
    }

    void narrow(Level low, Level high) {
        unsigned fetched = kLevels;
        while (high.depth - low.depth > 1 && low.holders != high.holders) {
            if (fetched == 0) {
                fetch_between(low.depth, high.depth, kLevels);
                fetched = kLevels;
            }
            --fetched;
            const std::size_t middle = (low.depth + high.depth) / 2;
            const Level between{middle, holders(middle)};
            if (between.holders == low.holders) {
                low = between;
            } else {
                if (between.holders != high.holders) {
                    narrow(between, high);
                }
                high = between;
            }
        }
    }

    /// Counts the wanted backends that hold block `depth` - 1 and notes that they reach so far.
    std::size_t holders(std::size_t depth) {
        const Slot* slot = table_.slots_.find(key_of(chain_.hashes[depth - 1]));
        if (slot == nullptr) {
            return 0;
        }
        if (!is_set(slot->word)) {
            return note(slot->word, depth);
        }
        std::size_t count = 0;
        for (const std::uint64_t word : table_.sets_.view(slot->word)) {
            count += note(word, depth);
        }
        return count;
    }

    std::size_t note(std::uint64_t word, std::size_t depth) {
        const Copy copy(word);
        const std::size_t backend = copy.backend();
        if (!wanted_.test(backend) || !table_.is_believed(copy)) {
            return 0;
        }
        Match& match = out_[backend];
        match.blocks = std::max(match.blocks, static_cast<std::uint32_t>(depth));
        return 1;
    }

    const Table& table_;
    const Chain& chain_;
    std::span<Match> out_;
    std::bitset<kMaxBackends> wanted_;
};

void PrefixMap::Table::match(const Chain& chain, std::span<const BackendSlot> backends,
                             std::span<Match> out) const {
    Search search(*this, chain, out);
    for (const BackendSlot backend : backends) {
        out[backend.index()] = Match{};
        search.want(backend.index());
    }
    search.run();
    for (const BackendSlot backend : backends) {
        Match& match = out[backend.index()];
        if (match.blocks > 0) {
            match.tokens = chain.tokens[match.blocks - 1];
        }
    }
}

std::size_t PrefixMap::Table::copies(std::uint64_t hash) const {
    const Slot* const slot = slots_.find(key_of(hash));
    if (slot == nullptr) {
        return 0;
    }
    const std::span<const std::uint64_t> words =
        is_set(slot->word) ? sets_.view(slot->word)
                           : std::span<const std::uint64_t>(&slot->word, 1);
    return static_cast<std::size_t>(std::count_if(
        words.begin(), words.end(), [this](auto word) { return is_believed(Copy(word)); }));
}

void PrefixMap::Table::distances(const Chain& chain, std::size_t backend,
                                 std::vector<StackDistance>& out) const {
    out.assign(chain.hashes.size(), kNever);
    const History* history = present(backend);
    if (history == nullptr) {
        return;
    }
    // Neighbours were mostly touched together: one sum serves all blocks of a bucket.
    const Timeline& timeline = history->timeline;
    Timeline::Sequence last = Timeline::kCleared;
    StackDistance distance = kNever;
    for (Walk walk(slots_, chain, 0); walk.next();) {
        const std::uint64_t* word = find_copy(walk.find(), backend);
        const Timeline::Sequence sequence =
            word == nullptr ? Timeline::kCleared : timeline.sequence(Copy(*word).stamp());
        if (sequence != last) {
            last = sequence;
            distance = sequence >= timeline.oldest() ? timeline.after(sequence) : kNever;
        }
        out[walk.block()] = distance;
    }
}

}  // namespace prefix_router::prefix
