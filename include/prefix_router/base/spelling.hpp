#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace prefix_router {

/// Edit distance (insert, delete, replace, swap of neighbours) in time of the product of lengths.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name nearest to `word`, if it is near enough to be a slip: at most a third of its letters.
template <class Names>
std::optional<std::string_view> nearest_name(std::string_view word, const Names& names) {
    std::optional<std::string_view> best;
    if (word.size() > 64) {
        return best;
    }
    std::size_t best_distance = word.size() / 3 + 2;
    for (const auto& name : names) {
        const std::size_t distance = edit_distance(word, name);
        if (distance < best_distance) {
            best_distance = distance;
            best = name;
        }
    }
    return best;
}

}  // namespace prefix_router
