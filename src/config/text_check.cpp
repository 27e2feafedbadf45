#include "config/text_check.hpp"

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

}  // namespace prefix_router::config
