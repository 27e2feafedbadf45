#include "prefix/table.hpp"

#include <algorithm>
#include <utility>

#include "prefix_router/base/partition.hpp"

namespace prefix_router::prefix {
namespace {

constexpr std::size_t kNoBackend = ~std::size_t{0};

}  // namespace

PrefixMap::Table::Table(const Options& options)
    : options_(options),
      slots_(options.memory_bytes),
      level_(options.ghost_factor),
      purged_(kNoBackend) {}

void PrefixMap::Table::add_backend(std::size_t backend, Tokens capacity) {
    if (backend >= kMaxBackends) {
        return;
    }
    if (backend >= histories_.size()) {
        histories_.resize(backend + 1);
        residency_.resize(backend + 1);
    }
    if (histories_[backend] == nullptr) {
        histories_[backend] = std::make_unique<History>();
    }
    remove_backend(backend);
    histories_[backend]->is_present = true;
    share_out_buckets();
    set_capacity(backend, capacity);
}

void PrefixMap::Table::remove_backend(std::size_t backend) {
    History* history = present(backend);
    if (history == nullptr) {
        return;
    }
    if (history->pinned_copies > 0) {
        purge(backend);
    }
    clear_backend(backend);
    history->is_present = false;
    residency_[backend] = Residency{};
    share_out_buckets();
}

void PrefixMap::Table::clear_backend(std::size_t backend) {
    if (History* history = present(backend)) {
        history->timeline.clear();
        history->activity.clear();
        held_ -= history->held;
        history->held = 0;
        settle(backend);
    }
}

void PrefixMap::Table::set_capacity(std::size_t backend, Tokens capacity) {
    if (History* history = present(backend)) {
        history->capacity = std::max<Tokens>(0, capacity);
        history->timeline.shape(history->capacity, options_.resolution);
        settle(backend);
    }
}

Tokens PrefixMap::Table::capacity(std::size_t backend) const {
    const History* history = present(backend);
    return history == nullptr ? 0 : history->capacity;
}

void PrefixMap::Table::erase(const Chain& chain, std::size_t backend, std::size_t from) {
    erase_copies(chain, backend, from, Erased::All);
}

/// Of those that are not pinned.
void PrefixMap::Table::erase_copies(const Chain& chain, std::size_t backend, std::size_t from,
                                    Erased which) {
    History* history = present(backend);
    if (history == nullptr) {
        return;
    }
    for (std::size_t block = chain.hashes.size(); block-- > from;) {
        const std::uint64_t key = key_of(chain.hashes[block]);
        Slot* slot = slots_.find(key);
        std::uint64_t* word = find_copy(slot, backend);
        if (word == nullptr || Copy(*word).pins() != 0) {
            continue;
        }
        if (which == Erased::All || !Copy(*word).is_computed()) {
            uncount(Copy(*word));
            remove_copy(slot, word);
        }
    }
    settle(backend);
}

Tokens PrefixMap::Table::resident(std::size_t backend) const {
    const History* history = present(backend);
    return history == nullptr ? 0 : history->timeline.resident();
}

void PrefixMap::Table::tick(double now, double window) {
    now_ = std::max(now_, now);
    window_ = window;
    if (now_ > time_step_began_ + window / 256) {
        time_step_began_ = now_;
        ++time_step_;
    }
}

Tokens PrefixMap::Table::working_set(std::size_t backend) const {
    const History* history = present(backend);
    if (history == nullptr) {
        return 0;
    }
    if (history->working_set_at != time_step_) {
        history->working_set_at = time_step_;
        history->working_set = history->activity.tokens_since(now_ - window_, history->timeline);
    }
    return history->working_set;
}

PrefixMap::Table::History* PrefixMap::Table::present(std::size_t backend) {
    return const_cast<History*>(std::as_const(*this).present(backend));
}

const PrefixMap::Table::History* PrefixMap::Table::present(std::size_t backend) const {
    if (backend >= histories_.size() || histories_[backend] == nullptr ||
        !histories_[backend]->is_present) {
        return nullptr;
    }
    return histories_[backend].get();
}

std::uint64_t* PrefixMap::Table::find_in_set(std::uint64_t set, std::size_t backend) const {
    const std::span<std::uint64_t> copies = sets_.view(set);
    const std::size_t before =
        count_leading(std::span<const std::uint64_t>(copies),
                      [backend](std::uint64_t word) { return Copy::backend_of(word) < backend; });
    const bool is_there = before < copies.size() && Copy::backend_of(copies[before]) == backend;
    return is_there ? &copies[before] : nullptr;
}

/// Adds a copy to the block's slot (nullptr: it has none yet). False: there is no memory.
bool PrefixMap::Table::put(Slot* slot, std::uint64_t key, Copy copy) {
    if (slot == nullptr) {
        slot = insert_slot(key);
        if (slot != nullptr) {
            slot->word = copy.word();
        }
        return slot != nullptr;
    }
    const std::size_t most = options_.memory_bytes - options_.memory_bytes / 32;
    const Growth growth = memory_bytes() < most ? Growth::Allowed : Growth::Forbidden;
    std::uint64_t word = is_set(slot->word) ? sets_.add(slot->word, copy.word(), growth)
                                            : sets_.pair(slot->word, copy.word(), growth);
    if (word == 0) {
        word = displace(slot->word, copy);
    }
    if (word != 0) {
        slot->word = word;
    }
    return word != 0;
}

/// Without memory for one more copy of a block: the copy that is oldest relative to its backend's
/// capacity makes room. 0: all are pinned.
std::uint64_t PrefixMap::Table::displace(std::uint64_t word, Copy copy) {
    const std::span<const std::uint64_t> copies =
        is_set(word) ? sets_.view(word) : std::span<const std::uint64_t>(&word, 1);
    std::size_t victim = copies.size();
    double oldest = -1;
    for (std::size_t i = 0; i < copies.size(); ++i) {
        const Copy other(copies[i]);
        const History& history = *histories_[other.backend()];
        const auto sequence = history.timeline.sequence(other.stamp());
        const bool is_alive = sequence >= history.timeline.oldest();
        const double age = is_alive ? static_cast<double>(history.timeline.after(sequence)) /
                                          static_cast<double>(history.capacity + 1)
                                    : 1e9;
        if (other.pins() == 0 && age > oldest) {
            oldest = age;
            victim = i;
        }
    }
    if (victim == copies.size()) {
        return 0;
    }
    const Copy displaced(copies[victim]);
    uncount(displaced);
    if (present(displaced.backend()) != nullptr) {
        settle(displaced.backend());
    }
    if (!is_set(word)) {
        return copy.word();
    }
    const std::uint64_t rest = sets_.erase(word, victim);
    return is_set(rest) ? sets_.add(rest, copy.word(), Growth::Forbidden)
                        : sets_.pair(rest, copy.word(), Growth::Forbidden);
}

void PrefixMap::Table::remove_copy(Slot* slot, const std::uint64_t* word) {
    if (!is_set(slot->word)) {
        slots_.remove(slot);
        return;
    }
    const auto position = static_cast<std::size_t>(word - sets_.view(slot->word).data());
    slot->word = sets_.erase(slot->word, position);
}

/// Takes a copy that is about to go out of its backend's sums.
void PrefixMap::Table::uncount(Copy copy) {
    History& history = *histories_[copy.backend()];
    const Timeline::Sequence sequence = history.timeline.sequence(copy.stamp());
    if (sequence >= history.timeline.oldest()) {
        history.timeline.take(sequence, copy.tokens());
    }
    if (sequence >= history.timeline.first()) {
        --history.held;
        --held_;
    }
}

/// What match() needs. Requests in flight keep their blocks, those that still wait for memory get
/// it before any that come later: when they fill the cache, nothing else outlives their queue.
/// (Seen on llama.cpp, whose waiting requests take the slot of the answer that just ended: a fleet
/// that was believed warm computed nine prompts of ten anew.)
void PrefixMap::Table::publish(std::size_t backend) {
    const History& history = *histories_[backend];
    const Timeline& timeline = history.timeline;
    const bool is_full = history.pinned >= history.capacity;
    residency_[backend] =
        Residency{timeline.parity(), is_full ? kNothing : timeline.cutoff(), timeline.first()};
}

/// After any change of a timeline: trims it and publishes what match() needs.
void PrefixMap::Table::settle(std::size_t backend) {
    History& history = *histories_[backend];
    Timeline& timeline = history.timeline;
    const double factor = std::min(options_.ghost_factor, level_);
    timeline.settle(static_cast<Tokens>(
        std::min(factor * static_cast<double>(history.capacity), double{Timeline::kMostTokens})));
    publish(backend);
    history.working_set_at = 0;
    const std::size_t bytes = timeline.bytes() + history.activity.bytes() + sizeof(History);
    history_bytes_ += bytes - history.bytes;
    history.bytes = bytes;
}

}  // namespace prefix_router::prefix
