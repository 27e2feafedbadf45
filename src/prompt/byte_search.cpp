#include "prompt/byte_search.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace prefix_router::prompt {
namespace {

const char* search_bytes(const char* p, const char* end) {
    while (p != end && !is_string_special(*p)) ++p;
    return p;
}

#if defined(__x86_64__)

const char* search_sse2(const char* p, const char* end) {
    for (; end - p >= 16; p += 16) {
        const std::uint32_t mask = string_specials(p);
        if (mask != 0) return p + std::countr_zero(mask);
    }
    return search_bytes(p, end);
}

__attribute__((target("avx2"))) inline __m256i special_avx2(const char* p) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    return _mm256_or_si256(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"')),
                           _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\')));
}

__attribute__((target("avx2"))) const char* search_avx2(const char* p, const char* end) {
    for (; end - p >= 64; p += 64) {
        const __m256i low = special_avx2(p);
        const __m256i high = special_avx2(p + 32);
        if (_mm256_testz_si256(_mm256_or_si256(low, high), _mm256_set1_epi8(-1)) != 0) continue;
        const auto low_mask = static_cast<std::uint32_t>(_mm256_movemask_epi8(low));
        if (low_mask != 0) return p + std::countr_zero(low_mask);
        const auto high_mask = static_cast<std::uint32_t>(_mm256_movemask_epi8(high));
        return p + 32 + std::countr_zero(high_mask);
    }
    return search_sse2(p, end);
}

using Search = const char* (*)(const char*, const char*);

Search choose_search() {
    return __builtin_cpu_supports("avx2") != 0 ? search_avx2 : search_sse2;
}

const Search kSearch = choose_search();

#endif

}  // namespace

const char* find_string_special_far(const char* p, const char* end) {
#if defined(__x86_64__)
    return kSearch(p, end);
#else
    return search_bytes(p, end);
#endif
}

}  // namespace prefix_router::prompt
