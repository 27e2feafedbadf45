#include "prompt/string_scan.hpp"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace prefix_router::prompt {
namespace {

std::vector<ScanLevel> levels() {
    std::vector<ScanLevel> levels;
    for (int level = 0; level <= static_cast<int>(best_scan_level()); ++level)
        levels.push_back(static_cast<ScanLevel>(level));
    return levels;
}

TEST(ScanString, AllLevelsFindTheSameEnd) {
    std::mt19937 random(1);
    for (int round = 0; round < 2000; ++round) {
        const std::string_view alphabet = round % 2 == 0 ? "ab\\\"u/" : "abcdefgh\\xyzuv/....";
        std::vector<char> text(random() % 300);
        for (char& c : text) c = alphabet[random() % alphabet.size()];
        if (round % 3 == 0 && !text.empty()) text[random() % text.size()] = '"';
        text.insert(text.begin(), '"');
        const char* const begin = text.data() + 1;
        const char* const end = text.data() + text.size();
        const StringEnd expected = scan_string(ScanLevel::Bytes, begin, end);
        for (const ScanLevel level : levels()) {
            const StringEnd found = scan_string(level, begin, end);
            ASSERT_EQ(found.quote - begin, expected.quote - begin) << static_cast<int>(level);
            ASSERT_EQ(found.plain, expected.plain) << static_cast<int>(level);
        }
        const StringEnd quick = scan_string(begin, end);
        ASSERT_EQ(quick.quote - begin, expected.quote - begin);
        ASSERT_EQ(quick.plain, expected.plain);
    }
}

TEST(ScanString, TellsEscapedQuotesAcrossBlocks) {
    for (std::size_t backslashes = 0; backslashes < 140; ++backslashes) {
        const std::string text = '"' + std::string(60, 'a') + std::string(backslashes, '\\') +
                                 "\"b" + std::string(100, 'c') + "\"";
        const std::size_t expected = backslashes % 2 == 0 ? 61 + backslashes : text.size() - 1;
        const char* const end = text.data() + text.size();
        for (const ScanLevel level : levels())
            ASSERT_EQ(static_cast<std::size_t>(scan_string(level, text.data() + 1, end).quote -
                                               text.data()),
                      expected)
                << backslashes;
    }
}

/// One character, or one escape, after the other.
const char* find_slowly(const char* p, const char* end) {
    while (p < end && !(*p == '\\' && (end - p < 2 || p[1] == 'u' || p[1] == '/')))
        p += *p == '\\' ? 2 : 1;
    return p;
}

TEST(FindConvertible, IsTheFirstUnescapedOneAtAllLevels) {
    std::mt19937 random(2);
    const std::vector<std::string> pieces = {"\\\\", "\\\"", "\\n", "a", "some text", "u/u/"};
    for (int round = 0; round < 4000; ++round) {
        std::string text;
        for (std::size_t n = random() % 120; n > 0; --n) text += pieces[random() % pieces.size()];
        if (round % 4 != 0 && !text.empty()) {
            constexpr std::string_view kChanges = "u/\\";
            text[random() % text.size()] = kChanges[random() % kChanges.size()];
        }
        const char* const end = text.data() + text.size();
        const auto expected = find_slowly(text.data(), end) - text.data();
        for (const ScanLevel level : levels())
            ASSERT_EQ(find_convertible(level, text.data(), end) - text.data(), expected)
                << static_cast<int>(level) << ' ' << text;
    }
}

TEST(ScanString, SeesConvertibleEscapesBeforeTheEndOnly) {
    const auto is_plain = [](const std::string& inside) {
        const std::string text = '"' + inside;
        return scan_string(text.data() + 1, text.data() + text.size()).plain;
    };
    const std::string fill(70, '.');
    EXPECT_TRUE(is_plain(fill + "u/ \\n\\\"\\\\u\"" + fill));
    EXPECT_FALSE(is_plain(fill + "\\u0041\"" + fill));
    EXPECT_FALSE(is_plain(fill + "\\/\"" + fill));
    EXPECT_TRUE(is_plain(fill + "\" \\u0041 \\/" + fill));
}

}  // namespace
}  // namespace prefix_router::prompt
