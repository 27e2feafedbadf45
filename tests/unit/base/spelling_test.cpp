#include "prefix_router/base/spelling.hpp"

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace prefix_router {
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

}  // namespace
}  // namespace prefix_router
