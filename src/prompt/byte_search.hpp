#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/// Vectorised searches that JSON scanning stands on. All take [p, end) and return `end` when
/// nothing is found; none reads beyond `end`. Short distances are searched in line with SSE2, long
/// ones by a function that is chosen once for the machine (AVX2 where there is one). Elsewhere a
/// byte loop does the same.
namespace prefix_router::prompt {

/// The first '"' or '\\' at or after p, for long distances.
const char* find_string_special_far(const char* p, const char* end);

constexpr bool is_string_special(char c) {
    return c == '"' || c == '\\';
}

/// The low five bits tell opening ('[' 0x5b, '{' 0x7b) from closing (']' 0x5d, '}' 0x7d).
constexpr bool is_bracket(char c) {
    const int folded = c | 0x20;
    return folded == '{' || folded == '}';
}
constexpr bool is_opening(char bracket) {
    return (bracket & 2) != 0;
}

#if defined(__SSE2__)
/// Of 16 bytes, which are '"' or '\\': one bit each.
inline std::uint32_t string_specials(const char* p) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i hit = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                     _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
    return static_cast<std::uint32_t>(_mm_movemask_epi8(hit));
}
#endif

/// The first '"' or '\\'.
inline const char* find_string_special(const char* p, const char* end) {
#if defined(__SSE2__)
    for (int step = 0; step < 2 && end - p >= 16; ++step, p += 16) {
        const std::uint32_t mask = string_specials(p);
        if (mask != 0) return p + std::countr_zero(mask);
    }
    if (end - p >= 16) return find_string_special_far(p, end);
#endif
    while (p != end && !is_string_special(*p)) ++p;
    return p;
}

/// The first '"' or bracket: what matters when a container is skipped.
inline const char* find_structural(const char* p, const char* end) {
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i fold = _mm_set1_epi8(0x20);
    const __m128i open = _mm_set1_epi8('{');
    const __m128i close = _mm_set1_epi8('}');
    for (; end - p >= 16; p += 16) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
        const __m128i folded = _mm_or_si128(bytes, fold);
        const __m128i hit =
            _mm_or_si128(_mm_cmpeq_epi8(bytes, quote),
                         _mm_or_si128(_mm_cmpeq_epi8(folded, open), _mm_cmpeq_epi8(folded, close)));
        const auto mask = static_cast<std::uint32_t>(_mm_movemask_epi8(hit));
        if (mask != 0) return p + std::countr_zero(mask);
    }
#endif
    while (p != end && *p != '"' && !is_bracket(*p)) ++p;
    return p;
}

}  // namespace prefix_router::prompt
