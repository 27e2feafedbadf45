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
        const char* const begin = text.data();
        const char* const end = begin + text.size();
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
        const std::string text = std::string(60, 'a') + std::string(backslashes, '\\') + "\"b" +
                                 std::string(100, 'c') + "\"";
        const std::size_t expected = backslashes % 2 == 0 ? 60 + backslashes : text.size() - 1;
        for (const ScanLevel level : levels())
            ASSERT_EQ(
                static_cast<std::size_t>(
                    scan_string(level, text.data(), text.data() + text.size()).quote - text.data()),
                expected)
                << backslashes;
    }
}

TEST(ScanString, SeesConvertibleEscapesBeforeTheEndOnly) {
    const auto is_plain = [](const std::string& text) {
        return scan_string(text.data(), text.data() + text.size()).plain;
    };
    const std::string fill(70, '.');
    EXPECT_TRUE(is_plain(fill + "u/ \\n\\\"\\\\u\"" + fill));
    EXPECT_FALSE(is_plain(fill + "\\u0041\"" + fill));
    EXPECT_FALSE(is_plain(fill + "\\/\"" + fill));
    EXPECT_TRUE(is_plain(fill + "\" \\u0041 \\/" + fill));
}

}  // namespace
}  // namespace prefix_router::prompt
