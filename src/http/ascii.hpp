#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace prefix_router::http {

/// Character classes of RFC 9110 section 5.6, independent of the locale.
inline constexpr std::array<bool, 256> kIsTokenCharacter = [] {
    std::array<bool, 256> table{};
    for (const char c : std::string_view("!#$%&'*+-.^_`|~0123456789")) {
        table[static_cast<unsigned char>(c)] = true;
    }
    for (unsigned c = 'a'; c <= 'z'; ++c) {
        table[c] = true;
        table[c - 'a' + 'A'] = true;
    }
    return table;
}();

constexpr bool is_token_character(char c) {
    return kIsTokenCharacter[static_cast<unsigned char>(c)];
}

/// May stand in a field value, a chunk extension or a trailer: everything but controls; HTAB may.
constexpr bool is_value_character(char c) {
    return (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) || c == '\t';
}

constexpr char to_lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// `lower` is in lower case already.
constexpr bool equals_ignoring_case(std::string_view text, std::string_view lower) {
    if (text.size() != lower.size()) {
        return false;
    }
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (to_lower(text[i]) != lower[i]) {
            return false;
        }
    }
    return true;
}

/// Without spaces and tabs at both ends.
constexpr std::string_view trim(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
        text.remove_prefix(1);
    }
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
        text.remove_suffix(1);
    }
    return text;
}

}  // namespace prefix_router::http
