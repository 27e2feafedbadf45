#include "prompt/text_escapes.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace prefix_router::prompt {
namespace {

constexpr std::size_t kUnitLength = 6;  // \uXXXX

constexpr auto kHexDigits = [] {
    std::array<std::int8_t, 256> digits{};
    digits.fill(-1);
    for (std::size_t i = 0; i < 10; ++i) digits['0' + i] = static_cast<std::int8_t>(i);
    for (std::size_t i = 0; i < 6; ++i)
        digits['a' + i] = digits['A' + i] = static_cast<std::int8_t>(10 + i);
    return digits;
}();

constexpr int hex_digit(char c) {
    return kHexDigits[static_cast<unsigned char>(c)];
}

/// The code unit of "\uXXXX", negative when a digit is none.
int code_unit(const char* escape) {
    const int a = hex_digit(escape[2]);
    const int b = hex_digit(escape[3]);
    const int c = hex_digit(escape[4]);
    const int d = hex_digit(escape[5]);
    return (a | b | c | d) < 0 ? -1 : (a << 12) | (b << 8) | (c << 4) | d;
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
    if (style == EscapeStyle::Decoded || (unit >= 0x80 && !is_surrogate(unit)))
        return write_utf8(static_cast<std::uint32_t>(unit), out);
    if (const char letter = short_escape(unit); letter != 0) {
        out[0] = '\\';
        out[1] = letter;
        return 2;
    }
    if (unit >= 0x20 && unit < 0x80) {
        out[0] = static_cast<char>(unit);
        return 1;
    }
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

/// The code point of a pair when `next` is the low half of `high`, else 0.
std::uint32_t paired(int high, std::string_view next) {
    if (next.size() < kUnitLength || !may_be_unit(next)) return 0;
    const int low = code_unit(next.data());
    if (!is_surrogate(low) || is_high_surrogate(low)) return 0;
    return static_cast<std::uint32_t>(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
}

std::size_t read_unicode(std::string_view raw, EscapeStyle style, char* out, std::size_t* written) {
    if (raw.size() < kUnitLength) return may_be_unit(raw) ? 0 : copy_raw(raw, 2, out, written);
    const int unit = code_unit(raw.data());
    if (unit < 0) return copy_raw(raw, 2, out, written);
    if (is_high_surrogate(unit)) {
        const std::string_view next = raw.substr(kUnitLength);
        if (const std::uint32_t code_point = paired(unit, next); code_point != 0) {
            *written = write_utf8(code_point, out);
            return 2 * kUnitLength;
        }
        if (next.size() < kUnitLength && may_be_unit(next)) return 0;
    }
    *written = write_unit(unit, style, out);
    return kUnitLength;
}

/// Copies bytes that need no conversion, to the next special byte at most.
struct Copied {
    const char* p;
    char* out;
};
Copied copy_ordinary(const char* p, const char* end, char* out, const char* limit) {
#if defined(__SSE2__)
    for (; end - p >= 16 && out < limit; p += 16, out += 16) {
        const std::uint32_t mask = string_specials(p);
        std::memcpy(out, p, 16);
        if (mask != 0) return {p + std::countr_zero(mask), out + std::countr_zero(mask)};
    }
#endif
    while (p != end && out < limit && !is_string_special(*p)) *out++ = *p++;
    return {p, out};
}

/// Whether an escape that the canonical style converts begins at p; often one follows another.
bool converts(const char* p, const char* end) {
    return end - p >= 2 && p[0] == '\\' && (p[1] == 'u' || p[1] == '/');
}

/// Copies [p, run_end) in vectors where `end` leaves room for them; returns where the copy ends.
char* copy_run(const char* p, const char* run_end, const char* end, char* out) {
    const std::ptrdiff_t size = run_end - p;
    constexpr std::ptrdiff_t kVector = 16;
    if (end - run_end < kVector) {
        std::memcpy(out, p, static_cast<std::size_t>(size));
    } else {
        for (std::ptrdiff_t i = 0; i < size; i += kVector) std::memcpy(out + i, p + i, kVector);
    }
    return out + size;
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

Converted convert_run(const char* p, const char* end, EscapeStyle style, char* out) {
    constexpr std::ptrdiff_t kReserve = 32;  // one vector and one escape
    constexpr std::ptrdiff_t kLongest = 128;
    char* o = out;
    const char* const limit = out + kRunBuffer - kReserve;
    const char* run_end = p;
    for (;;) {
        if (style == EscapeStyle::Canonical) {
            run_end = converts(p, end) ? p : find_convertible(p, end);
            if (run_end - p > std::min(kLongest, limit - o)) break;
            o = copy_run(p, run_end, end, o);
            p = run_end;
        } else {
            const Copied copied = copy_ordinary(p, end, o, limit);
            p = run_end = copied.p;
            o = copied.out;
        }
        if (p == end || o >= limit) break;
        std::size_t written = 0;
        const std::size_t consumed =
            read_escape({p, static_cast<std::size_t>(end - p)}, style, o, &written);
        if (consumed == 0) break;
        p += consumed;
        o += written;
        run_end = p;
    }
    return {p, run_end, static_cast<std::size_t>(o - out)};
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
