#include "sim/block_cache.hpp"

#include <algorithm>

namespace prefix_router::sim {

BlockCache::BlockCache(std::size_t capacity)
    : capacity_(capacity), wanted_(capacity), free_(capacity) {}

std::size_t BlockCache::match(std::span<const std::uint64_t> ids) const {
    std::size_t count = 0;
    while (count < ids.size() && index_.find(ids[count]) != kNil) ++count;
    return count;
}

bool BlockCache::acquire(std::span<const std::uint64_t> ids, std::size_t anonymous) {
    std::size_t need = anonymous;
    std::size_t reused = 0;  // evictable blocks of the chain itself: not to be counted as room
    for (const std::uint64_t id : ids) {
        const Index index = index_.find(id);
        if (index == kNil) {
            ++need;
        } else if (blocks_[index].pins == 0) {
            ++reused;
        }
    }
    if (need > free_ + evictable_ - reused) return false;
    for (const std::uint64_t id : ids) {
        const Index index = index_.find(id);
        if (index == kNil) continue;
        if (blocks_[index].pins == 0) unlink(index);
        ++blocks_[index].pins;
    }
    while (free_ < need) evict_oldest();
    for (const std::uint64_t id : ids) {
        if (index_.find(id) != kNil) continue;
        blocks_[create(id, true)].pins = 1;
        --free_;
    }
    free_ -= anonymous;
    return true;
}

void BlockCache::release(std::span<const std::uint64_t> ids, std::size_t computed,
                         std::span<const std::uint64_t> answer, std::size_t anonymous) {
    release_answer(answer, anonymous);
    for (std::size_t k = ids.size(); k-- > 0;) {
        const Index index = index_.find(ids[k]);
        if (index == kNil || blocks_[index].pins == 0) continue;  // an id twice in one chain
        if (--blocks_[index].pins > 0) continue;
        if (k < computed) {
            push_youngest(index);
        } else {
            destroy(index);
            ++free_;
        }
    }
    if (capacity_ > wanted_) shrink();
}

void BlockCache::release_answer(std::span<const std::uint64_t> answer, std::size_t anonymous) {
    const auto is_pinned = [this](std::uint64_t id) {
        const Index index = index_.find(id);
        return index != kNil && blocks_[index].pins > 0;
    };
    std::size_t named = 0;
    for (const std::uint64_t id : answer) named += is_pinned(id) ? 0U : 1U;
    named = std::min(named, anonymous);
    for (std::size_t k = named; k < anonymous; ++k) push_youngest(create(0, false));
    for (std::size_t k = answer.size(); k-- > 0 && named > 0;) {
        if (is_pinned(answer[k])) continue;
        --named;
        const Index index = index_.find(answer[k]);
        if (index == kNil) {
            push_youngest(create(answer[k], true));
            continue;
        }
        // Already cached by another request: this copy is worthless and goes first.
        unlink(index);
        push_youngest(index);
        push_oldest(create(0, false));
    }
}

void BlockCache::flush() {
    while (oldest_ != kNil) evict_oldest();
}

void BlockCache::resize(std::size_t capacity) {
    wanted_ = capacity;
    if (wanted_ > capacity_) {
        free_ += wanted_ - capacity_;
        capacity_ = wanted_;
    }
    shrink();
}

void BlockCache::shrink() {
    while (free_ < capacity_ - wanted_ && oldest_ != kNil) evict_oldest();
    const std::size_t taken = std::min(free_, capacity_ - wanted_);
    free_ -= taken;
    capacity_ -= taken;
}

BlockCache::Index BlockCache::create(std::uint64_t id, bool is_named) {
    Index index = static_cast<Index>(blocks_.size());
    if (unused_.empty()) {
        blocks_.emplace_back();
    } else {
        index = unused_.back();
        unused_.pop_back();
    }
    blocks_[index] =
        Block{.id = id, .pins = 0, .is_named = is_named, .older = kNil, .younger = kNil};
    if (is_named) index_.insert(id, index);
    return index;
}

void BlockCache::destroy(Index index) {
    if (blocks_[index].is_named) index_.erase(blocks_[index].id);
    unused_.push_back(index);
}

void BlockCache::push_youngest(Index index) {
    blocks_[index].older = youngest_;
    blocks_[index].younger = kNil;
    (youngest_ == kNil ? oldest_ : blocks_[youngest_].younger) = index;
    youngest_ = index;
    ++evictable_;
}

void BlockCache::push_oldest(Index index) {
    blocks_[index].younger = oldest_;
    blocks_[index].older = kNil;
    (oldest_ == kNil ? youngest_ : blocks_[oldest_].older) = index;
    oldest_ = index;
    ++evictable_;
}

void BlockCache::unlink(Index index) {
    const Block& block = blocks_[index];
    (block.older == kNil ? oldest_ : blocks_[block.older].younger) = block.younger;
    (block.younger == kNil ? youngest_ : blocks_[block.younger].older) = block.older;
    --evictable_;
}

void BlockCache::evict_oldest() {
    const Index index = oldest_;
    unlink(index);
    destroy(index);
    ++free_;
    ++evicted_;
}

}  // namespace prefix_router::sim
