#include "prompt/string_scan.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace prefix_router::prompt {
namespace {

/// True for 'u' and '/', and for other letters that no valid escape has: one comparison in vectors.
constexpr char kConvertible = 0x7f;
constexpr char kConvertibleFold = 0x5a;
constexpr bool is_convertible(char c) {
    return (c | kConvertibleFold) == kConvertible;
}

/// Byte by byte, from a place that may be inside an escape.
StringEnd scan_bytes(const char* p, const char* end, bool is_escaped, bool plain) {
    for (; p != end; ++p) {
        if (is_escaped) {
            is_escaped = false;
            plain = plain && !is_convertible(*p);
        } else if (*p == '"') {
            return {p, plain};
        } else {
            is_escaped = *p == '\\';
        }
    }
    return {end, plain};
}

#if defined(__x86_64__)

/// What 64 bytes hold, one bit a byte.
struct Masks {
    std::uint64_t quotes;
    std::uint64_t backslashes;
    std::uint64_t convertible;
};

/// Tells escaped bytes from others by the parity of the backslashes before them, without a branch:
/// a run of backslashes that begins at an odd place is added to its start, so that the carry comes
/// out behind it (the way of simdjson, G. Langdale and D. Lemire, 2019). Whether the next block
/// begins escaped follows from this block's last bytes alone, so that blocks overlap in the
/// processor.
struct EscapeFilter {
    std::uint64_t carry = 0;  ///< 1: the next block's first byte is escaped
    std::uint64_t converted = 0;

    /// The string's closing quote in this block as its lowest bit, 0 when it is not here.
    std::uint64_t closing_quotes(const Masks& masks) {
        constexpr std::uint64_t kEven = 0x5555555555555555U;
        const std::uint64_t backslashes = masks.backslashes & ~carry;
        const std::uint64_t behind = (backslashes << 1) | carry;
        const std::uint64_t odd_starts = backslashes & ~kEven & ~behind;
        const std::uint64_t escaped = (kEven ^ ((odd_starts + backslashes) << 1)) & behind;
        const std::uint64_t closing = masks.quotes & ~escaped;
        const std::uint64_t before = closing ^ (closing - 1);  // all bits when there is none
        converted |= escaped & masks.convertible & before;
        const auto run = static_cast<std::uint64_t>(std::countl_one(masks.backslashes));
        carry = run == 64 ? (run - carry) & 1 : run & 1;
        return closing;
    }
};

std::uint64_t joined(int low, int high) {
    return static_cast<std::uint32_t>(low) |
           (static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32);
}

Masks masks_sse2(const char* p) {
    Masks masks{};
    for (int shift = 0; shift < 64; shift += 16, p += 16) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
        const __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(kConvertibleFold));
        const auto mask = [shift](__m128i hits) {
            return static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(hits)))
                   << shift;
        };
        masks.quotes |= mask(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')));
        masks.backslashes |= mask(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
        masks.convertible |= mask(_mm_cmpeq_epi8(folded, _mm_set1_epi8(kConvertible)));
    }
    return masks;
}

StringEnd scan_sse2(const char* p, const char* end) {
    EscapeFilter filter;
    for (; end - p >= 64; p += 64)
        if (const std::uint64_t closing = filter.closing_quotes(masks_sse2(p)); closing != 0)
            return {p + std::countr_zero(closing), filter.converted == 0};
    return scan_bytes(p, end, filter.carry != 0, filter.converted == 0);
}

__attribute__((target("avx2"))) Masks masks_avx2(const char* p) {
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32));
    const __m256i quote = _mm256_set1_epi8('"');
    const __m256i backslash = _mm256_set1_epi8('\\');
    const __m256i fold = _mm256_set1_epi8(kConvertibleFold);
    const __m256i convertible = _mm256_set1_epi8(kConvertible);
    return {
        joined(_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, quote)),
               _mm256_movemask_epi8(_mm256_cmpeq_epi8(high, quote))),
        joined(_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, backslash)),
               _mm256_movemask_epi8(_mm256_cmpeq_epi8(high, backslash))),
        joined(_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_or_si256(low, fold), convertible)),
               _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_or_si256(high, fold), convertible)))};
}

__attribute__((target("avx2"))) StringEnd scan_avx2(const char* p, const char* end) {
    EscapeFilter filter;
    for (; end - p >= 64; p += 64)
        if (const std::uint64_t closing = filter.closing_quotes(masks_avx2(p)); closing != 0)
            return {p + std::countr_zero(closing), filter.converted == 0};
    return scan_bytes(p, end, filter.carry != 0, filter.converted == 0);
}

#endif

using Scan = StringEnd (*)(const char*, const char*);

StringEnd scan_without_vectors(const char* p, const char* end) {
    return scan_bytes(p, end, false, true);
}

Scan scan_of(ScanLevel level) {
#if defined(__x86_64__)
    switch (level) {
        case ScanLevel::Bytes:
            break;
        case ScanLevel::Sse2:
            return scan_sse2;
        case ScanLevel::Avx2:
            return scan_avx2;
    }
#else
    static_cast<void>(level);
#endif
    return scan_without_vectors;
}

const Scan kBestScan = scan_of(best_scan_level());

}  // namespace

ScanLevel best_scan_level() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") != 0) return ScanLevel::Avx2;
    return ScanLevel::Sse2;
#else
    return ScanLevel::Bytes;
#endif
}

StringEnd scan_string(ScanLevel level, const char* p, const char* end) {
    return scan_of(level)(p, end);
}

StringEnd scan_long_string(const char* p, const char* end) {
    return kBestScan(p, end);
}

}  // namespace prefix_router::prompt
