// Apart from logging.cpp, so that a program which only escapes needs no logging library.
#include <algorithm>
#include <string>

#include "prefix_router/base/logging.hpp"
#include "prefix_router/base/utf8.hpp"

namespace prefix_router {
namespace {

/// C0, DEL and C1 (U+0080 to U+009F, among them a terminal's control sequence introducer).
bool is_control(std::string_view sequence) {
    const auto first = static_cast<unsigned char>(sequence.front());
    const auto last = static_cast<unsigned char>(sequence.back());
    return first < 0x20 || first == 0x7f || (first == 0xc2 && last < 0xa0);
}

/// A C1 control's last byte is its code point; a byte that is no UTF-8 is shown as Latin-1.
void append_escaped(char c, std::string& out) {
    constexpr std::string_view kHex = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    out += "\\u00";
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
}

}  // namespace

std::string escape_for_log(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const std::size_t length = utf8_sequence_length(text);
        const std::string_view piece = text.substr(0, std::max<std::size_t>(length, 1));
        if (piece == "\"" || piece == "\\") {
            out += '\\';
            out += piece;
        } else if (length == 0 || is_control(piece)) {
            append_escaped(piece.back(), out);
        } else {
            out += piece;
        }
        text.remove_prefix(piece.size());
    }
    return out;
}

}  // namespace prefix_router
