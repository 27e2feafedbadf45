#include "routing/drain_rate.hpp"

#include <gtest/gtest.h>

namespace prefix_router::routing {
namespace {

TEST(DrainRate, SaysNothingBeforeEnoughHaveGone) {
    DrainRate rate;
    EXPECT_EQ(rate.time_for(1, 0), std::nullopt);
    rate.begin(0);
    for (int i = 1; i < 8; ++i) {
        rate.went(i);
        EXPECT_EQ(rate.time_for(1, i), std::nullopt);
    }
    rate.went(8);
    EXPECT_TRUE(rate.time_for(1, 8).has_value());
}

TEST(DrainRate, FollowsAChangeWithinItsWindow) {
    DrainRate rate;
    rate.begin(0);
    for (int i = 1; i <= 400; ++i) {
        rate.went(i * 0.25);
    }
    EXPECT_NEAR(rate.time_for(40, 100).value(), 10, 0.2);
    for (int i = 1; i <= 100; ++i) {
        rate.went(100 + i);
    }
    EXPECT_NEAR(rate.time_for(40, 200).value(), 40, 5);
    EXPECT_GT(rate.time_for(40, 260).value(), 200) << "nobody goes any more";
}

TEST(DrainRate, IsRightFromTheBeginningOn) {
    DrainRate rate;
    rate.begin(1000);
    for (int i = 1; i <= 8; ++i) {
        rate.went(1000 + i * 0.5);
    }
    EXPECT_NEAR(rate.time_for(10, 1004).value(), 5, 0.5);
}

TEST(DrainRate, TimeWithoutAQueueDoesNotCount) {
    DrainRate rate;
    rate.begin(0);
    for (int i = 1; i <= 60; ++i) {
        rate.went(i);
    }
    rate.end(60);
    const auto before = rate.time_for(5, 60);
    EXPECT_EQ(rate.time_for(5, 5000), before);
    rate.begin(5000);
    EXPECT_EQ(rate.time_for(5, 5000), before);
}

}  // namespace
}  // namespace prefix_router::routing
