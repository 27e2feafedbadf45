#include "config/text_check.hpp"

#include <string_view>

#include <gtest/gtest.h>

namespace prefix_router::config {
namespace {

TEST(TextCheck, FindsTheLineOfTheFirstByteThatIsNoText) {
    EXPECT_EQ(first_line_that_is_not_text(""), std::nullopt);
    EXPECT_EQ(first_line_that_is_not_text("a: 1\r\n\tb\n"), std::nullopt);
    EXPECT_EQ(first_line_that_is_not_text("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"), std::nullopt);
    EXPECT_EQ(first_line_that_is_not_text(std::string_view("a\nb\0", 4)), 2);
    EXPECT_EQ(first_line_that_is_not_text("a\x7f"), 1);
    EXPECT_EQ(first_line_that_is_not_text("\n\n\x1b"), 3);
    for (const auto* broken :
         {"\x80", "\xc0\xaf", "\xc3", "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80",
          "\xf5\x80\x80\x80", "\xff", "\xe0\x80\x80", "\xf0\x80\x80\x80", "\xc3("}) {
        EXPECT_EQ(first_line_that_is_not_text(broken), 1) << broken;
    }
}

TEST(TextCheck, TakesOneLineOutOfAText) {
    EXPECT_EQ(line_at("a\nb\nc", 1), "a");
    EXPECT_EQ(line_at("a\nb\nc", 2), "b");
    EXPECT_EQ(line_at("a\nb\nc", 3), "c");
    EXPECT_EQ(line_at("a\nb\nc", 4), "");
}

}  // namespace
}  // namespace prefix_router::config
