#include <algorithm>

#include "prefix_router/config/config.hpp"

namespace prefix_router::config {
namespace {

bool is_word(std::string_view text, std::string_view lower) {
    return std::equal(text.begin(), text.end(), lower.begin(), lower.end(), [](char c, char l) {
        return (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) == l;
    });
}

}  // namespace

std::string_view to_string(Priority priority) {
    switch (priority) {
        case Priority::High:
            return "high";
        case Priority::Normal:
            return "normal";
        case Priority::Low:
            return "low";
    }
    return "unknown";
}

std::optional<Priority> parse_priority(std::string_view word) {
    for (const auto priority : {Priority::High, Priority::Normal, Priority::Low}) {
        if (is_word(word, to_string(priority))) {
            return priority;
        }
    }
    return std::nullopt;
}

}  // namespace prefix_router::config
