#include "prompt/fixed_prefix.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace prefix_router::prompt {
namespace {

constexpr std::uint64_t kOnes = 0x0101010101010101U;

/// Bytes of `text` that do not begin a character of UTF-8 (10xxxxxx), eight at a time.
std::size_t count_continuations(std::string_view text) {
    std::size_t count = 0;
    std::size_t i = 0;
    for (; i + 8 <= text.size(); i += 8) {
        std::uint64_t word;
        std::memcpy(&word, text.data() + i, sizeof word);
        count += static_cast<std::size_t>(std::popcount((word >> 7) & ~(word >> 6) & kOnes));
    }
    for (; i < text.size(); ++i)
        count += (static_cast<unsigned char>(text[i]) & 0xc0U) == 0x80U ? 1U : 0U;
    return count;
}

std::size_t escape_length(std::string_view text, std::size_t at) {
    return at + 1 < text.size() && text[at + 1] == 'u' ? 6 : 2;
}

/// Bytes that escapes take beyond the one character each stands for.
std::size_t count_escape_excess(std::string_view text) {
    std::size_t excess = 0;
    for (std::size_t at = text.find('\\'); at != std::string_view::npos;) {
        const std::size_t length = escape_length(text, at);
        excess += length - 1;
        at = at + length < text.size() ? text.find('\\', at + length) : std::string_view::npos;
    }
    return excess;
}

/// The bytes of the first `characters` characters; there are more than that.
std::size_t cut_after(std::string_view text, std::uint64_t characters) {
    std::size_t at = 0;
    for (; characters > 0 && at < text.size(); --characters) {
        at += text[at] == '\\' ? escape_length(text, at) : 1;
        while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U) ++at;
    }
    return std::min(at, text.size());
}

}  // namespace

void FixedPrefix::add_some(std::string_view canonical) {
    // A character takes 6 bytes at most: what lies behind cannot belong to the prefix.
    const std::string_view near = canonical.substr(0, left_ * 6);
    const std::size_t characters =
        near.size() - count_continuations(near) - count_escape_excess(near);
    if (characters <= left_ && near.size() == canonical.size()) {
        left_ -= characters;
        hash_.add(canonical);
    } else {
        hash_.add(canonical.substr(0, cut_after(canonical, left_)));
        left_ = 0;
    }
}

}  // namespace prefix_router::prompt
