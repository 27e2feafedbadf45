#pragma once

#include <optional>
#include <string_view>

namespace prefix_router::config {

/// The line (from 1) of the first byte that is no UTF-8 text: a broken sequence, or a control
/// character other than tab, line feed and carriage return.
std::optional<int> first_line_that_is_not_text(std::string_view text);

/// Line `number` (from 1) of `text` without its end; empty when there is none.
std::string_view line_at(std::string_view text, int number);

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

}  // namespace prefix_router::config
