#pragma once

#include <cstddef>
#include <span>

namespace prefix_router {

/// How many leading elements of `sorted` go before: std::partition_point without a branch that
/// depends on what is there, which a processor would guess wrong every other time. (The mask keeps
/// GCC from making a branch of it again.)
/// Example: count_leading({1, 3, 5}, [](int each) { return each < 4; }) is 2.
template <class T, class GoesBefore>
std::size_t count_leading(std::span<const T> sorted, GoesBefore goes_before) {
    const T* from = sorted.data();
    std::size_t left = sorted.size();
    if (left == 0) {
        return 0;
    }
    while (left > 1) {
        const std::size_t half = left / 2;
        from += half & (std::size_t{0} - std::size_t{goes_before(from[half - 1])});
        left -= half;
    }
    from += std::size_t{goes_before(*from)};
    return static_cast<std::size_t>(from - sorted.data());
}

}  // namespace prefix_router
