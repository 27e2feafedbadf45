#include "prefix/copy_sets.hpp"

#include <algorithm>

namespace prefix_router::prefix {
namespace {

constexpr std::array<std::uint32_t, 19> kCapacity = {2,  3,  4,   6,   8,   12,  16,  24,  32,  48,
                                                     64, 96, 128, 192, 256, 384, 512, 768, 1024};

std::uint64_t reference(std::size_t size_class, std::size_t size, std::uint32_t place) {
    return kSetFlag | (std::uint64_t{size_class} << 58) | (std::uint64_t{size} << 40) | place;
}
std::size_t class_of(std::uint64_t word) {
    return static_cast<std::size_t>(word >> 58) & 31;
}

std::size_t class_for(std::size_t size) {
    const auto* fitting = std::lower_bound(kCapacity.begin(), kCapacity.end(), size);
    return static_cast<std::size_t>(fitting - kCapacity.begin());
}

}  // namespace

CopySets::CopySets() : used_in_chunk_(kChunkWords) {
    free_.fill(kNone);
}

std::uint64_t CopySets::pair(std::uint64_t first, std::uint64_t second, Growth growth) {
    const std::uint32_t place = allocate(0, growth);
    if (place == kNone) {
        return 0;
    }
    std::uint64_t* words = at(place);
    words[0] = std::min(first, second);
    words[1] = std::max(first, second);
    return reference(0, 2, place);
}

std::uint64_t CopySets::add(std::uint64_t word, std::uint64_t copy, Growth growth) {
    const std::size_t size = size_of(word);
    std::size_t size_class = class_of(word);
    std::uint32_t place = place_of(word);
    if (size == kCapacity[size_class]) {
        const std::uint32_t larger = allocate(size_class + 1, growth);
        if (larger == kNone) {
            return 0;
        }
        std::copy_n(at(place), size, at(larger));
        recycle(place, size_class);
        place = larger;
        ++size_class;
    }
    std::uint64_t* words = at(place);
    std::uint64_t* position = std::lower_bound(words, words + size, copy);
    std::copy_backward(position, words + size, words + size + 1);
    *position = copy;
    return reference(size_class, size + 1, place);
}

std::uint64_t CopySets::erase(std::uint64_t word, std::size_t position) {
    const std::span<std::uint64_t> words = view(word);
    std::copy(words.data() + position + 1, words.data() + words.size(), words.data() + position);
    return truncate(word, words.size() - 1);
}

std::uint64_t CopySets::truncate(std::uint64_t word, std::size_t size) {
    const std::size_t size_class = class_of(word);
    const std::uint32_t place = place_of(word);
    if (size == 1) {
        const std::uint64_t last = *at(place);
        recycle(place, size_class);
        return last;
    }
    // A set is moved to a smaller class only at half its size, so that it does not move to and fro.
    if (size * 2 <= kCapacity[size_class]) {
        const std::size_t smaller = class_for(size);
        const std::uint32_t target =
            smaller < size_class ? allocate(smaller, Growth::Forbidden) : kNone;
        if (target != kNone) {
            std::copy_n(at(place), size, at(target));
            recycle(place, size_class);
            return reference(smaller, size, target);
        }
    }
    return reference(size_class, size, place);
}

void CopySets::release(std::uint64_t word) {
    recycle(place_of(word), class_of(word));
}

std::uint32_t CopySets::allocate(std::size_t size_class, Growth growth) {
    if (free_[size_class] != kNone) {
        const std::uint32_t place = free_[size_class];
        free_[size_class] = static_cast<std::uint32_t>(*at(place));
        return place;
    }
    const std::uint32_t words = kCapacity[size_class];
    if (used_in_chunk_ + words > kChunkWords) {
        if (growth == Growth::Forbidden) {
            return kNone;
        }
        retire_chunk();
        chunks_.push_back(std::make_unique<std::uint64_t[]>(kChunkWords));
        used_in_chunk_ = 0;
    }
    const auto chunk = static_cast<std::uint32_t>(chunks_.size() - 1);
    const std::uint32_t place = chunk * kChunkWords + used_in_chunk_;
    used_in_chunk_ += words;
    return place;
}

void CopySets::recycle(std::uint32_t place, std::size_t size_class) {
    *at(place) = free_[size_class];
    free_[size_class] = place;
}

/// Cuts what is left of the last chunk into free sets.
void CopySets::retire_chunk() {
    while (!chunks_.empty() && kChunkWords - used_in_chunk_ >= kCapacity[0]) {
        const std::uint32_t left = kChunkWords - used_in_chunk_;
        const auto* above = std::upper_bound(kCapacity.begin(), kCapacity.end(), left);
        const auto size_class = static_cast<std::size_t>(above - kCapacity.begin()) - 1;
        const auto chunk = static_cast<std::uint32_t>(chunks_.size() - 1);
        recycle(chunk * kChunkWords + used_in_chunk_, size_class);
        used_in_chunk_ += kCapacity[size_class];
    }
}

std::size_t CopySets::bytes() const {
    return chunks_.size() * kChunkWords * sizeof(std::uint64_t);
}

}  // namespace prefix_router::prefix
