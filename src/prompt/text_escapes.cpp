#include "prompt/text_escapes.hpp"

#include <algorithm>

namespace prefix_router::prompt {
namespace {

constexpr std::size_t kUnitLength = 6;  // \uXXXX

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/// The code unit of "\uXXXX".
int code_unit(std::string_view escape) {
    int value = 0;
    for (std::size_t i = 2; i < kUnitLength; ++i) {
        value = value * 16 + hex_digit(escape[i]);
    }
    return value;
}

constexpr bool is_high_surrogate(int unit) {
    return unit >= 0xd800 && unit < 0xdc00;
}
constexpr bool is_surrogate(int unit) {
    return unit >= 0xd800 && unit < 0xe000;
}

std::size_t write_utf8(std::uint32_t code_point, char* out) {
    const auto tail = [code_point](int shift) {
        return static_cast<char>(0x80U | ((code_point >> shift) & 0x3fU));
    };
    if (code_point < 0x80) {
        out[0] = static_cast<char>(code_point);
        return 1;
    }
    if (code_point < 0x800) {
        out[0] = static_cast<char>(0xc0U | (code_point >> 6));
        out[1] = tail(0);
        return 2;
    }
    if (code_point < 0x10000) {
        out[0] = static_cast<char>(0xe0U | (code_point >> 12));
        out[1] = tail(6);
        out[2] = tail(0);
        return 3;
    }
    out[0] = static_cast<char>(0xf0U | (code_point >> 18));
    out[1] = tail(12);
    out[2] = tail(6);
    out[3] = tail(0);
    return 4;
}

/// The letter of the short escape of `code_point`, or 0.
char short_escape(int code_point) {
    switch (code_point) {
        case '\b':
            return 'b';
        case '\t':
            return 't';
        case '\n':
            return 'n';
        case '\f':
            return 'f';
        case '\r':
            return 'r';
        case '"':
        case '\\':
            return static_cast<char>(code_point);
        default:
            return 0;
    }
}

std::size_t write_unit(int unit, EscapeStyle style, char* out) {
    if (style == EscapeStyle::Decoded) return write_utf8(static_cast<std::uint32_t>(unit), out);
    if (const char letter = short_escape(unit); letter != 0) {
        out[0] = '\\';
        out[1] = letter;
        return 2;
    }
    if (unit >= 0x20 && !is_surrogate(unit))
        return write_utf8(static_cast<std::uint32_t>(unit), out);
    constexpr char kDigits[] = "0123456789abcdef";
    out[0] = '\\';
    out[1] = 'u';
    for (int i = 0; i < 4; ++i) out[2 + i] = kDigits[(unit >> (12 - 4 * i)) & 15];
    return kUnitLength;
}

std::size_t copy_raw(std::string_view raw, std::size_t count, char* out, std::size_t* written) {
    std::memcpy(out, raw.data(), count);
    *written = count;
    return count;
}

bool are_hex_digits(std::string_view digits) {
    for (const char c : digits)
        if (hex_digit(c) < 0) return false;
    return true;
}

/// Whether `raw`, when it is short, could still become a whole \uXXXX.
bool may_be_unit(std::string_view raw) {
    constexpr std::string_view kStart = "\\u";
    const std::size_t known = std::min(raw.size(), kStart.size());
    return raw.substr(0, known) == kStart.substr(0, known) &&
           are_hex_digits(raw.substr(known, kUnitLength - known));
}

std::size_t read_unicode(std::string_view raw, EscapeStyle style, char* out, std::size_t* written) {
    if (!may_be_unit(raw)) return copy_raw(raw, 2, out, written);
    if (raw.size() < kUnitLength) return 0;
    const int unit = code_unit(raw);
    if (is_high_surrogate(unit)) {
        const std::string_view next = raw.substr(kUnitLength);
        if (may_be_unit(next)) {
            if (next.size() < kUnitLength) return 0;
            const int low = code_unit(next);
            if (is_surrogate(low) && !is_high_surrogate(low)) {
                const int code_point = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                *written = write_utf8(static_cast<std::uint32_t>(code_point), out);
                return 2 * kUnitLength;
            }
        }
    }
    *written = write_unit(unit, style, out);
    return kUnitLength;
}

char decoded_short(char letter) {
    switch (letter) {
        case 'b':
            return '\b';
        case 't':
            return '\t';
        case 'n':
            return '\n';
        case 'f':
            return '\f';
        case 'r':
            return '\r';
        case '"':
        case '\\':
        case '/':
            return letter;
        default:
            return 0;
    }
}

}  // namespace

std::size_t read_escape(std::string_view raw, EscapeStyle style, char* out, std::size_t* written) {
    if (raw.size() < 2) return 0;
    if (raw[1] == 'u') return read_unicode(raw, style, out, written);
    const char decoded = decoded_short(raw[1]);
    const bool decode = style == EscapeStyle::Decoded ? decoded != 0 : raw[1] == '/';
    if (!decode) return copy_raw(raw, 2, out, written);
    out[0] = decoded;
    *written = 1;
    return 2;
}

std::string_view decode_text(std::string_view raw, std::span<char> buffer) {
    std::size_t size = 0;
    const auto append = [&](std::string_view bytes) {
        const std::size_t count = std::min(bytes.size(), buffer.size() - size);
        std::memcpy(buffer.data() + size, bytes.data(), count);
        size += count;
    };
    EscapeReader<EscapeStyle::Decoded> reader;
    reader.feed(raw, append);
    reader.finish(append);
    return {buffer.data(), size};
}

}  // namespace prefix_router::prompt
