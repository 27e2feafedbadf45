#include "sim/rivals/prefix_index.hpp"

namespace prefix_router::sim {

std::size_t PrefixIndex::match(std::span<const std::uint64_t> chain) const {
    std::size_t depth = 0;  // [0, depth) is in, [end, size) is out
    std::size_t end = chain.size();
    while (depth < end) {
        const std::size_t middle = depth + (end - depth) / 2;
        if (index_.find(chain[middle]) != kNil) {
            depth = middle + 1;
        } else {
            end = middle;
        }
    }
    return depth;
}

void PrefixIndex::touch(std::span<const std::uint64_t> chain, Seconds now) {
    for (std::size_t k = chain.size(); k-- > 0;) {
        Index at = index_.find(chain[k]);
        if (at == kNil) {
            at = create(chain[k]);
        } else {
            unlink(at);
        }
        push_youngest(at);
        entries_[at].touched = now;
    }
    while (index_.size() > capacity_) remove_oldest();
}

void PrefixIndex::expire(Seconds limit) {
    while (oldest_ != kNil && entries_[oldest_].touched <= limit) remove_oldest();
}

PrefixIndex::Index PrefixIndex::create(std::uint64_t id) {
    if (unused_.empty()) {
        unused_.push_back(static_cast<Index>(entries_.size()));
        entries_.emplace_back();
    }
    const Index at = unused_.back();
    unused_.pop_back();
    entries_[at].id = id;
    index_.insert(id, at);
    return at;
}

void PrefixIndex::push_youngest(Index at) {
    entries_[at].older = youngest_;
    entries_[at].younger = kNil;
    (youngest_ == kNil ? oldest_ : entries_[youngest_].younger) = at;
    youngest_ = at;
}

void PrefixIndex::unlink(Index at) {
    const Entry& entry = entries_[at];
    (entry.older == kNil ? oldest_ : entries_[entry.older].younger) = entry.younger;
    (entry.younger == kNil ? youngest_ : entries_[entry.younger].older) = entry.older;
}

void PrefixIndex::remove_oldest() {
    const Index at = oldest_;
    unlink(at);
    index_.erase(entries_[at].id);
    unused_.push_back(at);
}

}  // namespace prefix_router::sim
