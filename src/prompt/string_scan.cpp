#include "prompt/string_scan.hpp"

#include <array>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace prefix_router::prompt {
namespace {

/// What follows the backslash of an escape that the canonical style converts.
constexpr bool is_convertible(char c) {
    return c == 'u' || c == '/';
}

/// Byte by byte.
StringEnd scan_bytes(const char* p, const char* end) {
    bool is_escaped = false;
    bool plain = true;
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

/// The same search from a place that may be inside an escape, for the last bytes of a text.
StringEnd scan_tail(const char* p, const char* end, bool is_escaped, bool plain) {
    for (;;) {
        if (is_escaped && p != end) plain &= !is_convertible(*p++);
        p = find_string_special(p, end);
        if (p == end || *p == '"') return {p, plain};
        is_escaped = true;
        ++p;
    }
}

/// Whether an odd number of backslashes, back to `begin` at most, stands before p.
bool is_escaped(const char* begin, const char* p) {
    const char* run = p;
    while (run != begin && run[-1] == '\\') --run;
    return ((p - run) & 1) != 0;
}

/// find_convertible(), one escape after the other.
const char* find_in_escapes(const char* p, const char* end) {
    while (p < end) {
        p = find_string_special(p, end);
        if (p == end) break;
        if (*p == '\\' && (end - p < 2 || is_convertible(p[1]))) return p;
        p += *p == '\\' ? 2 : 1;
    }
    return end;
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

    std::uint64_t escaped(std::uint64_t all_backslashes) {
        constexpr std::uint64_t kEven = 0x5555555555555555U;
        const std::uint64_t backslashes = all_backslashes & ~carry;
        const std::uint64_t behind = (backslashes << 1) | carry;
        const std::uint64_t odd_starts = backslashes & ~kEven & ~behind;
        const auto run = static_cast<std::uint64_t>(std::countl_one(all_backslashes));
        carry = run == 64 ? (run - carry) & 1 : run & 1;
        return (kEven ^ ((odd_starts + backslashes) << 1)) & behind;
    }
};

constexpr std::ptrdiff_t kBlock = 64;

/// Most blocks hold only quotes that stand behind a backslash, and of those none that stands behind
/// another, and neither \u nor \/: Isa::may_matter() passes over them, at a third of the filter's
/// cost. It looks at pairs of bytes, so that it must not follow two backslashes.
template <class Isa>
__attribute__((always_inline)) inline StringEnd scan_blocks(const char* p, const char* end) {
    const char* const begin = p;
    EscapeFilter filter;
    std::uint64_t converted = 0;
    while (end - p >= kBlock) {
        if (!Isa::may_matter(p)) {
            p += kBlock;
            continue;
        }
        filter.carry = p[-1] == '\\' ? 1 : 0;
        do {
            const Masks masks = Isa::masks(p);
            const std::uint64_t escaped = filter.escaped(masks.backslashes);
            const std::uint64_t closing = masks.quotes & ~escaped;
            const std::uint64_t before = closing ^ (closing - 1);  // all bits when there is none
            converted |= escaped & masks.convertible & before;
            if (closing != 0) return {p + std::countr_zero(closing), converted == 0};
            p += kBlock;
        } while (p[-1] == '\\' && end - p >= kBlock);
    }
    return scan_tail(p, end, is_escaped(begin, p), converted == 0);
}

template <class Isa>
__attribute__((always_inline)) inline const char* find_in_blocks(const char* p, const char* end) {
    const char* const begin = p;
    for (; end - p > kBlock; p += kBlock) {
        std::uint64_t pairs = Isa::convertible_pairs(p);
        for (; pairs != 0; pairs &= pairs - 1) {
            const char* const found = p + std::countr_zero(pairs);
            if (!is_escaped(begin, found)) return found;
        }
    }
    return find_in_escapes(is_escaped(begin, p) ? p + 1 : p, end);
}

struct Sse2 {
    static __m128i load(const char* p) {
        return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    }
    static __m128i equal(__m128i bytes, char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); }
    static __m128i convertible(__m128i bytes) {
        return _mm_or_si128(equal(bytes, 'u'), equal(bytes, '/'));
    }
    /// Reads the byte before the block, too.
    static bool may_matter(const char* p) {
        __m128i hits = _mm_setzero_si128();
        for (const char* const behind = p + kBlock; p != behind; p += 16) {
            const __m128i bytes = load(p);
            const __m128i follows = equal(load(p - 1), '\\');
            const __m128i escaped = _mm_or_si128(convertible(bytes), equal(bytes, '\\'));
            hits = _mm_or_si128(hits, _mm_and_si128(follows, escaped));
            hits = _mm_or_si128(hits, _mm_andnot_si128(follows, equal(bytes, '"')));
        }
        return _mm_movemask_epi8(hits) != 0;
    }
    /// Reads one byte more than a block.
    static std::uint64_t convertible_pairs(const char* p) {
        std::uint64_t pairs = 0;
        for (int shift = 0; shift < kBlock; shift += 16, p += 16) {
            const __m128i hits = _mm_and_si128(equal(load(p), '\\'), convertible(load(p + 1)));
            pairs |= std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(hits))} << shift;
        }
        return pairs;
    }
    static Masks masks(const char* p) {
        Masks masks{};
        for (int shift = 0; shift < kBlock; shift += 16, p += 16) {
            const __m128i bytes = load(p);
            const auto mask = [shift](__m128i hits) {
                return std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(hits))} << shift;
            };
            masks.quotes |= mask(equal(bytes, '"'));
            masks.backslashes |= mask(equal(bytes, '\\'));
            masks.convertible |= mask(convertible(bytes));
        }
        return masks;
    }
};

StringEnd scan_sse2(const char* p, const char* end) {
    return scan_blocks<Sse2>(p, end);
}
const char* find_sse2(const char* p, const char* end) {
    return find_in_blocks<Sse2>(p, end);
}

/// By its low four bits, what matters behind a backslash, for each sixteen bytes; the rest equals
/// no byte that has them.
alignas(kBlock) constexpr auto kMattersEscaped = [] {
    std::array<char, kBlock> bytes{};
    for (std::size_t i = 0; i < bytes.size(); i += 16) {
        bytes[i] = 1;
        for (const char c : {'u', '/', '\\'}) bytes[i + (c & 15)] = c;
    }
    return bytes;
}();

#define PREFIX_ROUTER_AVX2 __attribute__((target("avx2")))

struct Avx2 {
    PREFIX_ROUTER_AVX2 static __m256i load(const char* p) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    }
    PREFIX_ROUTER_AVX2 static __m256i equal(__m256i bytes, char c) {
        return _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(c));
    }
    PREFIX_ROUTER_AVX2 static __m256i convertible(__m256i bytes) {
        return _mm256_or_si256(equal(bytes, 'u'), equal(bytes, '/'));
    }
    PREFIX_ROUTER_AVX2 static __m256i matters(const char* p) {
        const __m256i escaped = load(kMattersEscaped.data());
        const __m256i bytes = load(p);
        const __m256i looked_for = _mm256_blendv_epi8(
            _mm256_set1_epi8('"'), _mm256_shuffle_epi8(escaped, bytes), equal(load(p - 1), '\\'));
        return _mm256_cmpeq_epi8(bytes, looked_for);
    }
    /// Reads the byte before the block, too.
    PREFIX_ROUTER_AVX2 static bool may_matter(const char* p) {
        const __m256i hits = _mm256_or_si256(matters(p), matters(p + 32));
        return _mm256_testz_si256(hits, hits) == 0;
    }
    PREFIX_ROUTER_AVX2 static std::uint64_t mask(__m256i low, __m256i high) {
        return static_cast<std::uint32_t>(_mm256_movemask_epi8(low)) |
               std::uint64_t{static_cast<std::uint32_t>(_mm256_movemask_epi8(high))} << 32;
    }
    PREFIX_ROUTER_AVX2 static __m256i pairs(const char* p) {
        return _mm256_and_si256(equal(load(p), '\\'), convertible(load(p + 1)));
    }
    /// Reads one byte more than a block.
    PREFIX_ROUTER_AVX2 static std::uint64_t convertible_pairs(const char* p) {
        return mask(pairs(p), pairs(p + 32));
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
PREFIX_ROUTER_AVX2 const char* find_avx2(const char* p, const char* end) {
    return find_in_blocks<Avx2>(p, end);
}

#undef PREFIX_ROUTER_AVX2

#define PREFIX_ROUTER_AVX512 __attribute__((target("avx512bw")))

struct Avx512 {
    PREFIX_ROUTER_AVX512 static __m512i load(const char* p) { return _mm512_loadu_si512(p); }
    PREFIX_ROUTER_AVX512 static std::uint64_t equal(__m512i bytes, char c) {
        return _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(c));
    }
    /// Reads the byte before the block, too.
    PREFIX_ROUTER_AVX512 static bool may_matter(const char* p) {
        const __m512i escaped = load(kMattersEscaped.data());
        const __m512i bytes = load(p);
        const __m512i looked_for = _mm512_mask_shuffle_epi8(
            _mm512_set1_epi8('"'), equal(load(p - 1), '\\'), escaped, bytes);
        return _mm512_cmpeq_epi8_mask(bytes, looked_for) != 0;
    }
    /// Reads one byte more than a block.
    PREFIX_ROUTER_AVX512 static std::uint64_t convertible_pairs(const char* p) {
        const __m512i behind = load(p + 1);
        return equal(load(p), '\\') & (equal(behind, 'u') | equal(behind, '/'));
    }
    PREFIX_ROUTER_AVX512 static Masks masks(const char* p) {
        const __m512i bytes = load(p);
        Masks masks{equal(bytes, '"'), equal(bytes, '\\'), equal(bytes, 'u') | equal(bytes, '/')};
        // Else GCC 12 does the filter's arithmetic in mask registers, three times slower.
        __asm__("" : "+r"(masks.quotes), "+r"(masks.backslashes), "+r"(masks.convertible));
        return masks;
    }
};

PREFIX_ROUTER_AVX512 StringEnd scan_avx512(const char* p, const char* end) {
    return scan_blocks<Avx512>(p, end);
}
PREFIX_ROUTER_AVX512 const char* find_avx512(const char* p, const char* end) {
    return find_in_blocks<Avx512>(p, end);
}

#undef PREFIX_ROUTER_AVX512

#endif

struct Scanner {
    StringEnd (*string_end)(const char* p, const char* end);
    const char* (*convertible)(const char* p, const char* end);
};

Scanner scanner_of(ScanLevel level) {
#if defined(__x86_64__)
    switch (level) {
        case ScanLevel::Bytes:
            break;
        case ScanLevel::Sse2:
            return {scan_sse2, find_sse2};
        case ScanLevel::Avx2:
            return {scan_avx2, find_avx2};
        case ScanLevel::Avx512:
            return {scan_avx512, find_avx512};
    }
#else
    static_cast<void>(level);
#endif
    return {scan_bytes, find_in_escapes};
}

const Scanner kBest = scanner_of(best_scan_level());

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
    return scanner_of(level).string_end(p, end);
}

StringEnd scan_long_string(const char* p, const char* end) {
    return kBest.string_end(p, end);
}

const char* find_convertible(ScanLevel level, const char* p, const char* end) {
    return scanner_of(level).convertible(p, end);
}

const char* find_convertible(const char* p, const char* end) {
    return kBest.convertible(p, end);
}

}  // namespace prefix_router::prompt
