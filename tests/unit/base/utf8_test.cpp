#include "prefix_router/base/utf8.hpp"

#include <string>

#include <gtest/gtest.h>

namespace prefix_router {
namespace {

/// UTF-8 of any number below 2^21, surrogates included.
std::string encoded(unsigned code_point) {
    const auto tail = [&](int shift) {
        return static_cast<char>(0x80 | ((code_point >> shift) & 0x3f));
    };
    if (code_point < 0x80) {
        return {static_cast<char>(code_point)};
    }
    if (code_point < 0x800) {
        return {static_cast<char>(0xc0 | (code_point >> 6)), tail(0)};
    }
    if (code_point < 0x10000) {
        return {static_cast<char>(0xe0 | (code_point >> 12)), tail(6), tail(0)};
    }
    return {static_cast<char>(0xf0 | (code_point >> 18)), tail(12), tail(6), tail(0)};
}

TEST(Utf8, EveryCodePointHasItsLengthAndSurrogatesHaveNone) {
    for (unsigned code_point = 0; code_point < 0x110000; ++code_point) {
        const std::string text = encoded(code_point);
        const bool is_surrogate = code_point >= 0xd800 && code_point < 0xe000;
        ASSERT_EQ(utf8_sequence_length(text + "x"), is_surrogate ? 0 : text.size()) << code_point;
    }
    EXPECT_EQ(utf8_sequence_length(encoded(0x110000)), 0U);
}

TEST(Utf8, BrokenSequencesHaveNone) {
    EXPECT_EQ(utf8_sequence_length(""), 0U);
    for (const auto* text : {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc3", "\xc3(", "\xe2\x82",
                             "\xe2(\xa1", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf", "\xf0\x9f\x98",
                             "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xfe", "\xff"}) {
        EXPECT_EQ(utf8_sequence_length(text), 0U) << text;
    }
}

}  // namespace
}  // namespace prefix_router
