#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "prompt/string_scan.hpp"

/// Escapes of JSON strings. Two styles:
///
/// Canonical: what is hashed. One spelling per text, and almost always the bytes as they stand:
/// \uXXXX becomes UTF-8 (or \" \\ \b \t \n \f \r, or lower-case \u00xx for other control
/// characters and \udxxx for a surrogate without its half), \/ becomes /; all else stays, the short
/// escapes included.
///
/// Decoded: the text itself. A lone surrogate becomes its three-byte form. Broken escapes stay as
/// they are in both.
namespace prefix_router::prompt {

enum class EscapeStyle : std::uint8_t { Canonical, Decoded };

/// The longest output of one escape.
inline constexpr std::size_t kMaxEscapeOutput = 8;

/// Reads the escape that `raw` begins with. Returns the bytes consumed, 0 when `raw` ends inside
/// it. `out` receives kMaxEscapeOutput bytes at most, `*written` of them.
std::size_t read_escape(std::string_view raw, EscapeStyle style, char* out, std::size_t* written);

/// What convert_run() did: the text up to `p` is converted, and [p, run_end) passes as it stands.
struct Converted {
    const char* p;
    const char* run_end;
    std::size_t written;
};

/// Converts text from p on, which holds no bare quote, until `out` (kRunBuffer bytes) is full, an
/// escape that `end` cuts, or `end`; in the canonical style also at a long run without conversions.
/// Nothing was done when `run_end` is p and nothing was written.
Converted convert_run(const char* p, const char* end, EscapeStyle style, char* out);
inline constexpr std::size_t kRunBuffer = 1024;

/// Decodes a whole string that fits into `buffer` (decoding never lengthens).
std::string_view decode_text(std::string_view raw, std::span<char> buffer);

/// Converts the inside of one JSON string that comes in pieces, cut anywhere.
template <EscapeStyle kStyle>
class EscapeReader {
  public:
    /// Passes converted bytes to sink(std::string_view). `raw` holds no bare quote.
    template <class Sink>
    void feed(std::string_view raw, Sink&& sink) {
        const char* p = raw.data();
        const char* const end = p + raw.size();
        if (size_ != 0) {
            p = resume(p, end, sink);
            if (size_ != 0) return;
        }
        char out[kRunBuffer];
        while (p != end) {
            const Converted converted = convert_run(p, end, kStyle, out);
            emit(out, out + converted.written, sink);
            emit(converted.p, converted.run_end, sink);
            if (converted.run_end == p) return hold(p, end);
            p = converted.run_end;
        }
    }

    bool rests() const { return size_ == 0; }
    /// The next byte belongs to an escape, whatever it is.
    bool ends_in_backslash() const { return size_ != 0 && pending_[size_ - 1] == '\\'; }

    /// The string ended: what is pending is a broken escape, or a high surrogate without its half.
    template <class Sink>
    void finish(Sink&& sink) {
        while (size_ != 0) {
            // Blanks stand for the bytes that will not come.
            char padded[2 * kCapacity];
            std::memset(padded, ' ', sizeof padded);
            std::memcpy(padded, pending_, size_);
            char out[kMaxEscapeOutput];
            std::size_t written = 0;
            const std::size_t consumed =
                pending_[0] == '\\' ? read_escape({padded, sizeof padded}, kStyle, out, &written)
                                    : 0;
            if (consumed == 0 || consumed > size_) {
                emit(pending_, pending_ + 1, sink);
                drop(1);
            } else {
                sink(std::string_view(out, written));
                drop(consumed);
            }
        }
    }

  private:
    static constexpr std::size_t kCapacity = 12;  // \ud83d\ude00

    template <class Sink>
    static void emit(const char* begin, const char* end, Sink& sink) {
        if (begin != end) sink(std::string_view(begin, static_cast<std::size_t>(end - begin)));
    }

    template <class Sink>
    static std::size_t convert(std::string_view raw, Sink& sink) {
        char out[kMaxEscapeOutput];
        std::size_t written = 0;
        const std::size_t consumed = read_escape(raw, kStyle, out, &written);
        if (consumed != 0) sink(std::string_view(out, written));
        return consumed;
    }

    void hold(const char* p, const char* end) {
        size_ = static_cast<std::uint8_t>(end - p);
        std::memcpy(pending_, p, size_);
    }

    void drop(std::size_t count) {
        size_ = static_cast<std::uint8_t>(size_ - count);
        std::memmove(pending_, pending_ + count, size_);
    }

    /// Completes the pending escape byte by byte.
    template <class Sink>
    const char* resume(const char* p, const char* end, Sink& sink) {
        while (size_ != 0) {
            if (pending_[0] != '\\') {  // left over behind a broken escape
                emit(pending_, pending_ + 1, sink);
                drop(1);
                continue;
            }
            const std::size_t consumed = convert({pending_, size_}, sink);
            if (consumed != 0) {
                drop(consumed);
            } else if (p == end) {
                return p;
            } else {
                pending_[size_++] = *p++;
            }
        }
        return p;
    }

    char pending_[kCapacity] = {};
    std::uint8_t size_ = 0;
};

}  // namespace prefix_router::prompt
