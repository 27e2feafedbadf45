#include "prefix_router/base/random.hpp"

#include <array>

#include <gtest/gtest.h>

namespace prefix_router {
namespace {

TEST(Random, IsSplitMix64) {
    // The published sequence for seed 1234567.
    Random random(1'234'567);
    EXPECT_EQ(random(), 6'457'827'717'110'365'317U);
    EXPECT_EQ(random(), 3'203'168'211'198'807'973U);
    EXPECT_EQ(random(), 9'817'491'932'198'370'423U);
}

TEST(Random, BelowStaysBelowAndIsUniform) {
    constexpr int kDraws = 100'000;
    Random random(1);
    std::array<int, 10> counts{};
    for (int i = 0; i < kDraws; ++i) {
        ++counts.at(random.below(counts.size()));
    }
    for (const int count : counts) {
        EXPECT_NEAR(count, kDraws / 10, 500);  // five standard deviations
    }
    EXPECT_EQ(random.below(1), 0U);
    for (int i = 0; i < 100; ++i) {
        EXPECT_LT(random.below(~std::uint64_t{0}), ~std::uint64_t{0});
    }
}

TEST(Random, UnitIsInTheHalfOpenInterval) {
    Random random(2);
    double sum = 0;
    for (int i = 0; i < 10'000; ++i) {
        const double value = random.unit();
        ASSERT_GE(value, 0.0);
        ASSERT_LT(value, 1.0);
        sum += value;
    }
    EXPECT_NEAR(sum / 10'000, 0.5, 0.015);
}

TEST(SeedFromSystem, DiffersBetweenCalls) {
    EXPECT_NE(seed_from_system(), seed_from_system());
}

}  // namespace
}  // namespace prefix_router
