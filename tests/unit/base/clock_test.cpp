#include "prefix_router/base/clock.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace prefix_router {
namespace {

using namespace std::chrono_literals;

TEST(SteadyClock, NeverGoesBack) {
    for (const double speed : {1.0, 10.0}) {
        const SteadyClock clock(speed);
        TimePoint before = clock.now();
        for (int i = 0; i < 1000; ++i) {
            const TimePoint now = clock.now();
            ASSERT_GE(now, before);
            before = now;
        }
    }
}

TEST(SteadyClock, AtASpeedAdvancesThatMuchFaster) {
    constexpr double kSpeed = 1000;
    const SteadyClock real;
    const SteadyClock fast(kSpeed);
    const TimePoint fast_start = fast.now();
    const TimePoint real_start = real.now();
    while (real.now() - real_start < 1ms) {
    }
    EXPECT_GE(fast.now() - fast_start, 1s);
}

TEST(Seconds, ConvertBothWays) {
    EXPECT_EQ(to_seconds(1500ms), 1.5);
    EXPECT_EQ(from_seconds(1.5), 1500ms);
    EXPECT_EQ(from_seconds(-0.25), -250ms);
    EXPECT_EQ(from_seconds(0), Duration{0});
}

TEST(Seconds, BeyondAllMeaningAreClampedSoThatSumsFit) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const Duration most = from_seconds(kInfinity);
    EXPECT_GT(most, std::chrono::hours{24 * 365 * 99});
    EXPECT_LT(most, Duration::max() / 2);
    EXPECT_EQ(from_seconds(1e300), most);
    EXPECT_EQ(from_seconds(-kInfinity), -most);
    EXPECT_EQ(from_seconds(std::numeric_limits<double>::quiet_NaN()), Duration{0});
    EXPECT_GT(SteadyClock().now() + most, SteadyClock().now());
}

}  // namespace
}  // namespace prefix_router
