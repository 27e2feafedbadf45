#include "config/text_check.hpp"

#include <algorithm>
#include <vector>

namespace prefix_router::config {
namespace {

/// Length of the well-formed UTF-8 sequence at the start of `text`, 0 if there is none (RFC 3629:
/// no overlong forms, no surrogates, nothing above U+10FFFF).
std::size_t sequence_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) {
        return 1;
    }
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < length) {
        return 0;
    }
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80) {
            return 0;
        }
    }
    const unsigned char second = byte(1);
    const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
    const bool surrogate = first == 0xed && second > 0x9f;
    const bool too_high = first == 0xf4 && second > 0x8f;
    return overlong || surrogate || too_high ? 0 : length;
}

bool is_forbidden_control(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7f;
}

}  // namespace

std::optional<int> first_line_that_is_not_text(std::string_view text) {
    int line = 1;
    while (!text.empty()) {
        const std::size_t length = sequence_length(text);
        if (length == 0 || is_forbidden_control(text[0])) {
            return line;
        }
        line += text[0] == '\n' ? 1 : 0;
        text.remove_prefix(length);
    }
    return std::nullopt;
}

std::string_view line_at(std::string_view text, int number) {
    for (; number > 1; --number) {
        const auto end = text.find('\n');
        if (end == text.npos) {
            return {};
        }
        text.remove_prefix(end + 1);
    }
    return text.substr(0, text.find('\n'));
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before;
    std::vector<std::size_t> last;
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) {
        row[j] = j;
    }
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before = std::move(last);
        last = row;
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({replace, last[j] + 1, row[j - 1] + 1});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
    }
    return row[b.size()];
}

}  // namespace prefix_router::config
