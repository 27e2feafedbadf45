#pragma once

#include <bit>
#include <cstdint>

#include "prompt/byte_search.hpp"

namespace prefix_router::prompt {

/// Where a JSON string ends.
struct StringEnd {
    const char* quote;  ///< the closing quote, or the end of the text when there is none
    bool plain;         ///< no \uXXXX and no \/ before it; false is a hint, true a fact
};

/// The instruction sets that the search is written for. All give the same result.
enum class ScanLevel : std::uint8_t { Bytes, Sse2, Avx2, Avx512 };

/// The best level of this machine.
ScanLevel best_scan_level();

/// `p` stands behind the opening quote, which is read again. 64 bytes at a time without a branch
/// per escape: text with many escapes costs the same as text without. The level must be one that
/// the machine has.
StringEnd scan_string(ScanLevel level, const char* p, const char* end);

/// The same at the best level, from p on, which no escape goes over.
StringEnd scan_long_string(const char* p, const char* end);

/// The first escape at or after p, which stands inside of none, that the canonical style
/// (text_escapes.hpp) converts: \u or \/, or a backslash that ends the text. Else `end`.
const char* find_convertible(const char* p, const char* end);
const char* find_convertible(ScanLevel level, const char* p, const char* end);

/// Most keys, roles and types are as short as this: the closing quote of a string without escapes
/// that is found within 16 bytes, else nullptr.
inline const char* short_string_end(const char* p, const char* end) {
#if defined(__SSE2__)
    if (end - p >= 16) {
        const std::uint32_t mask = string_specials(p);
        const char* const first = p + std::countr_zero(mask);
        if (mask != 0 && *first == '"') return first;
    }
#else
    static_cast<void>(p);
    static_cast<void>(end);
#endif
    return nullptr;
}

/// The end of any string, at the best level; quickest for those that need no setting up.
inline StringEnd scan_string(const char* p, const char* end) {
#if defined(__SSE2__)
    for (int step = 0; step < 4 && end - p >= 16; ++step, p += 16) {
        const std::uint32_t mask = string_specials(p);
        if (mask == 0) continue;
        const char* const first = p + std::countr_zero(mask);
        if (*first == '"') return {first, true};
        break;
    }
#endif
    return scan_long_string(p, end);
}

}  // namespace prefix_router::prompt
