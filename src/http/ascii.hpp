#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace prefix_router::http {

/// A set of bytes, independent of the locale.
class CharacterSet {
  public:
    /// Letters, digits and `others`.
    static constexpr CharacterSet alphanumeric_and(std::string_view others) {
        CharacterSet set;
        for (const char c : others) {
            set.members_[static_cast<unsigned char>(c)] = true;
        }
        for (std::size_t c = 'a'; c <= 'z'; ++c) {
            set.members_[c] = true;
            set.members_[c - 'a' + 'A'] = true;
        }
        for (std::size_t c = '0'; c <= '9'; ++c) {
            set.members_[c] = true;
        }
        return set;
    }

    constexpr bool has(char c) const { return members_[static_cast<unsigned char>(c)]; }
    constexpr bool has_all(std::string_view text) const {
        for (const char c : text) {
            if (!has(c)) {
                return false;
            }
        }
        return true;
    }

  private:
    std::array<bool, 256> members_{};
};

/// RFC 9110 section 5.6.2.
inline constexpr CharacterSet kTokenCharacters = CharacterSet::alphanumeric_and("!#$%&'*+-.^_`|~");

constexpr bool is_token_character(char c) {
    return kTokenCharacters.has(c);
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
