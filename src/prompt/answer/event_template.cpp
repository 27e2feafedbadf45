#include "prompt/answer/event_template.hpp"

#include <bit>
#include <cstring>

#include "prompt/byte_search.hpp"

namespace prefix_router::prompt {
namespace {

/// What ends a run of text: a quote, a backslash, or a control character, which in a stream may
/// end the line.
constexpr bool ends_run(char c) {
    return is_string_special(c) || static_cast<unsigned char>(c) < 0x20;
}

const char* find_run_end(const char* p, const char* end) {
#if defined(__SSE2__)
    for (; end - p >= 16; p += 16) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
        const __m128i controls = _mm_set1_epi8(0x1f);
        const __m128i hit = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                                      _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))),
                                         _mm_cmpeq_epi8(_mm_max_epu8(bytes, controls), controls));
        const auto mask = static_cast<std::uint32_t>(_mm_movemask_epi8(hit));
        if (mask != 0) return p + std::countr_zero(mask);
    }
#endif
    while (p != end && !ends_run(*p)) ++p;
    return p;
}

/// The closing quote of a string that is whole and on one line, else nullptr.
const char* closing_quote(const char* p, const char* end) {
    for (;;) {
        p = find_run_end(p, end);
        if (p == end) return nullptr;
        if (*p == '"') return p;
        if (*p != '\\' || end - p < 2 || static_cast<unsigned char>(p[1]) < 0x20) return nullptr;
        p += 2;
    }
}

}  // namespace

EventTemplate::Match EventTemplate::match(std::string_view bytes) const {
    if (before_ == 0 || bytes.size() < bytes_.size()) return {};
    if (std::memcmp(bytes.data(), bytes_.data(), before_) != 0) return {};
    const char* const begin = bytes.data() + before_;
    const char* const end = bytes.data() + bytes.size();
    const char* const quote = closing_quote(begin, end);
    const std::size_t behind = bytes_.size() - before_;
    if (quote == nullptr || static_cast<std::size_t>(end - quote) < behind) return {};
    if (std::memcmp(quote, bytes_.data() + before_, behind) != 0) return {};
    const std::string_view text(begin, static_cast<std::size_t>(quote - begin));
    return {text, before_ + text.size() + behind};
}

void EventTemplate::learn(std::string_view event, std::string_view text, Node node) {
    if (event.size() - text.size() > kMaxSize) return;
    const auto before = static_cast<std::size_t>(text.data() - event.data());
    bytes_.assign(event, 0, before);
    bytes_.append(event, before + text.size());
    before_ = static_cast<std::uint16_t>(before);
    node_ = node;
}

}  // namespace prefix_router::prompt
