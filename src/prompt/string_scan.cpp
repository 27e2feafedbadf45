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
/// out behind it (the way of simdjson, G. Langdale and D. Lemire, 2019).
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

bool is_escaped(const char* begin, const char* p) {
    const char* run = p;
    while (run != begin && run[-1] == '\\') --run;
    return ((p - run) & 1) != 0;
}

/// Whether each quote of the block stands behind a single backslash, and nothing else matters. The
/// byte before the block must be no backslash.
constexpr bool holds_escaped_quotes_only(const Masks& masks) {
    const std::uint64_t behind = masks.backslashes << 1;
    const std::uint64_t behind_single = behind & ~(behind << 1);
    return ((masks.quotes & ~behind_single) | (behind & masks.convertible) |
            (masks.backslashes >> 63)) == 0;
}

/// The last bytes of the text, from a place that may be inside an escape.
StringEnd scan_tail(const char* p, const char* end, bool is_escaped, bool plain) {
    for (;;) {
        if (is_escaped && p != end) plain &= !is_convertible(*p++);
        p = find_string_special(p, end);
        if (p == end || *p == '"') return {p, plain};
        is_escaped = true;
        ++p;
    }
}

constexpr std::ptrdiff_t kBlock = 64;

/// Most blocks of a text hold neither a quote nor \u or \/: Isa::may_matter() passes over them, at
/// a third of the filter's cost. Of the others most hold escaped quotes alone.
template <class Isa>
__attribute__((always_inline)) inline StringEnd scan_blocks(const char* p, const char* end) {
    const char* const begin = p;
    EscapeFilter filter;
    while (end - p > kBlock) {
        if (!Isa::may_matter(p)) {
            p += kBlock;
            continue;
        }
        Masks masks = Isa::masks(p);
        const bool follows_backslash = p != begin && p[-1] == '\\';
        if (!follows_backslash && holds_escaped_quotes_only(masks)) {
            p += kBlock;
            continue;
        }
        filter.carry = follows_backslash && is_escaped(begin, p) ? 1 : 0;
        for (;;) {
            const std::uint64_t closing = filter.closing_quotes(masks);
            if (closing != 0) return {p + std::countr_zero(closing), filter.converted == 0};
            p += kBlock;
            // What ends in a backslash decides on the next block's first byte.
            if (filter.carry == 0 || end - p <= kBlock) break;
            masks = Isa::masks(p);
        }
    }
    return scan_tail(p, end, is_escaped(begin, p), filter.converted == 0);
}

struct Sse2 {
    static __m128i load(const char* p) {
        return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    }
    static __m128i convertible(__m128i bytes) {
        return _mm_cmpeq_epi8(_mm_or_si128(bytes, _mm_set1_epi8(kConvertibleFold)),
                              _mm_set1_epi8(kConvertible));
    }
    /// Reads one byte more than a block.
    static bool may_matter(const char* p) {
        __m128i hits = _mm_setzero_si128();
        for (const char* const behind = p + kBlock; p != behind; p += 16) {
            const __m128i bytes = load(p);
            const __m128i quotes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
            const __m128i backslashes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
            const __m128i converted = _mm_and_si128(backslashes, convertible(load(p + 1)));
            hits = _mm_or_si128(hits, _mm_or_si128(quotes, converted));
        }
        return _mm_movemask_epi8(hits) != 0;
    }
    static Masks masks(const char* p) {
        Masks masks{};
        for (int shift = 0; shift < kBlock; shift += 16, p += 16) {
            const __m128i bytes = load(p);
            const auto mask = [shift](__m128i hits) {
                return std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(hits))} << shift;
            };
            masks.quotes |= mask(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')));
            masks.backslashes |= mask(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
            masks.convertible |= mask(convertible(bytes));
        }
        return masks;
    }
};

StringEnd scan_sse2(const char* p, const char* end) {
    return scan_blocks<Sse2>(p, end);
}

#define PREFIX_ROUTER_AVX2 __attribute__((target("avx2")))

struct Avx2 {
    PREFIX_ROUTER_AVX2 static __m256i load(const char* p) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    }
    PREFIX_ROUTER_AVX2 static __m256i equal(__m256i bytes, char c) {
        return _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(c));
    }
    PREFIX_ROUTER_AVX2 static __m256i convertible(__m256i bytes) {
        return equal(_mm256_or_si256(bytes, _mm256_set1_epi8(kConvertibleFold)), kConvertible);
    }
    PREFIX_ROUTER_AVX2 static __m256i matters(const char* p) {
        const __m256i bytes = load(p);
        const __m256i converted = _mm256_and_si256(equal(bytes, '\\'), convertible(load(p + 1)));
        return _mm256_or_si256(equal(bytes, '"'), converted);
    }
    /// Reads one byte more than a block.
    PREFIX_ROUTER_AVX2 static bool may_matter(const char* p) {
        const __m256i hits = _mm256_or_si256(matters(p), matters(p + 32));
        return _mm256_testz_si256(hits, hits) == 0;
    }
    PREFIX_ROUTER_AVX2 static std::uint64_t mask(__m256i low, __m256i high) {
        return static_cast<std::uint32_t>(_mm256_movemask_epi8(low)) |
               std::uint64_t{static_cast<std::uint32_t>(_mm256_movemask_epi8(high))} << 32;
    }
    PREFIX_ROUTER_AVX2 static Masks masks(const char* p) {
        const __m256i low = load(p);
        const __m256i high = load(p + 32);
        return {mask(equal(low, '"'), equal(high, '"')), mask(equal(low, '\\'), equal(high, '\\')),
                mask(convertible(low), convertible(high))};
    }
};

PREFIX_ROUTER_AVX2 StringEnd scan_avx2(const char* p, const char* end) {
    return scan_blocks<Avx2>(p, end);
}

#undef PREFIX_ROUTER_AVX2

#define PREFIX_ROUTER_AVX512 __attribute__((target("avx512bw")))

struct Avx512 {
    PREFIX_ROUTER_AVX512 static __m512i load(const char* p) { return _mm512_loadu_si512(p); }
    PREFIX_ROUTER_AVX512 static std::uint64_t equal(__m512i bytes, char c) {
        return _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(c));
    }
    PREFIX_ROUTER_AVX512 static __m512i folded(__m512i bytes) {
        return _mm512_or_si512(bytes, _mm512_set1_epi8(kConvertibleFold));
    }
    /// Reads one byte more than a block.
    PREFIX_ROUTER_AVX512 static bool may_matter(const char* p) {
        const __m512i bytes = load(p);
        const std::uint64_t converted = _mm512_mask_cmpeq_epi8_mask(
            equal(bytes, '\\'), folded(load(p + 1)), _mm512_set1_epi8(kConvertible));
        return (equal(bytes, '"') | converted) != 0;
    }
    PREFIX_ROUTER_AVX512 static Masks masks(const char* p) {
        const __m512i bytes = load(p);
        Masks masks{equal(bytes, '"'), equal(bytes, '\\'), equal(folded(bytes), kConvertible)};
        // Else GCC 12 does the filter's arithmetic in mask registers, three times slower.
        __asm__("" : "+r"(masks.quotes), "+r"(masks.backslashes), "+r"(masks.convertible));
        return masks;
    }
};

PREFIX_ROUTER_AVX512 StringEnd scan_avx512(const char* p, const char* end) {
    return scan_blocks<Avx512>(p, end);
}

#undef PREFIX_ROUTER_AVX512

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
        case ScanLevel::Avx512:
            return scan_avx512;
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
    if (__builtin_cpu_supports("avx512bw") != 0) return ScanLevel::Avx512;
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
