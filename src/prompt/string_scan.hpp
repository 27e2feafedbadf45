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

/// `p` stands behind the opening quote. 64 bytes at a time without a branch per escape: text with
/// many escapes costs the same as text without. The level must be one that the machine has.
StringEnd scan_string(ScanLevel level, const char* p, const char* end);

/// The same at the best level.
StringEnd scan_long_string(const char* p, const char* end);

/// The closing quote of a string without escapes that is found within `steps` times 16 bytes, else
/// nullptr.
inline const char* near_string_end(const char* p, const char* end, int steps) {
#if defined(__SSE2__)
    for (; steps > 0 && end - p >= 16; --steps, p += 16) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
        const __m128i quotes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
        const __m128i special = _mm_or_si128(quotes, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
        const auto mask = static_cast<std::uint32_t>(_mm_movemask_epi8(special));
        if (mask == 0) continue;
        const char* const first = p + std::countr_zero(mask);
        return *first == '"' ? first : nullptr;
    }
#else
    static_cast<void>(p);
    static_cast<void>(end);
    static_cast<void>(steps);
#endif
    return nullptr;
}

/// Most keys, roles and types are as short as this.
inline const char* short_string_end(const char* p, const char* end) {
    return near_string_end(p, end, 1);
}

/// The end of any string, at the best level; quickest for those that need no setting up.
inline StringEnd scan_string(const char* p, const char* end) {
    const char* const quote = near_string_end(p, end, 4);
    return quote != nullptr ? StringEnd{quote, true} : scan_long_string(p, end);
}

}  // namespace prefix_router::prompt
