#include "config/text_check.hpp"

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace prefix_router::config {
namespace {

TEST(EditDistance, CountsInsertDeleteReplaceAndSwapAsOne) {
    EXPECT_EQ(edit_distance("", ""), 0U);
    EXPECT_EQ(edit_distance("routing", "routing"), 0U);
    EXPECT_EQ(edit_distance("rooting", "routing"), 1U);
    EXPECT_EQ(edit_distance("ruoting", "routing"), 1U);
    EXPECT_EQ(edit_distance("routin", "routing"), 1U);
    EXPECT_EQ(edit_distance("rrouting", "routing"), 1U);
    EXPECT_EQ(edit_distance("", "log"), 3U);
    EXPECT_EQ(edit_distance("log", ""), 3U);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(NearestName, IsFoundForASlipAndNotForAnotherWord) {
    const std::array<std::string_view, 3> names{"listen", "limits", "timeouts"};
    EXPECT_EQ(nearest_name("lsiten", names), "listen");
    EXPECT_EQ(nearest_name("timeout", names), "timeouts");
    EXPECT_EQ(nearest_name("limit", names), "limits");
    EXPECT_EQ(nearest_name("banana", names), std::nullopt);
    EXPECT_EQ(nearest_name("", names), std::nullopt);
    EXPECT_EQ(nearest_name(std::string(1'000'000, 'x'), names), std::nullopt);
}

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
