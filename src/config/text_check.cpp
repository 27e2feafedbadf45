#include "config/text_check.hpp"

#include <algorithm>
#include <vector>

#include "prefix_router/base/utf8.hpp"

namespace prefix_router::config {
namespace {

bool is_forbidden_control(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7f;
}

}  // namespace

std::optional<int> first_line_that_is_not_text(std::string_view text) {
    int line = 1;
    while (!text.empty()) {
        const std::size_t length = utf8_sequence_length(text);
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
