#include "engine_sim/answer_text.hpp"

#include <cstdio>

#include "prefix_router/base/random.hpp"

#include "engine_sim/options.hpp"

namespace prefix_router::engine_sim {

std::string answer_text(std::uint64_t prompt_digest, std::uint32_t marker, Tokens count) {
    constexpr std::uint64_t kLetters = 26;
    const auto bytes = static_cast<std::size_t>(count * kBytesPerToken);
    char digits[9];
    static_cast<void>(std::snprintf(digits, sizeof digits, "%08x", marker));
    std::string text(digits);
    text.reserve(bytes);
    Random random(prompt_digest);
    while (text.size() < bytes) {
        std::uint64_t drawn = random();
        text += ' ';
        for (int letter = 1; letter < kBytesPerToken; ++letter, drawn >>= 16)
            text += static_cast<char>('a' + (drawn & 0xffff) % kLetters);
    }
    text.resize(bytes);
    return text;
}

}  // namespace prefix_router::engine_sim
