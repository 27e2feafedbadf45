#include "prefix_router/net/buffer_pool.hpp"

#include <gtest/gtest.h>

namespace prefix_router::net {
namespace {

constexpr std::size_t kPlenty = std::size_t{64} << 20;

TEST(BufferPool, RoundsUpToPowersOfTwo) {
    BufferPool pool(kPlenty);
    EXPECT_EQ(pool.take(1).capacity(), 4096U);
    EXPECT_EQ(pool.take(4096).capacity(), 4096U);
    EXPECT_EQ(pool.take(4097).capacity(), 8192U);
    EXPECT_EQ(pool.take(std::size_t{64} << 20).capacity(), std::size_t{64} << 20);
}

TEST(BufferPool, GivesOutTheWarmestBufferOfAClass) {
    BufferPool pool(kPlenty);
    Buffer first = pool.take(5000);
    Buffer second = pool.take(5000);
    const char* const warm = second.data();
    first = Buffer();
    second = Buffer();
    EXPECT_EQ(pool.take(6000).data(), warm);
}

TEST(BufferPool, KeepsNoMoreThanItsBound) {
    BufferPool pool(16384);
    {
        const Buffer a = pool.take(8192);
        const Buffer b = pool.take(8192);
        const Buffer c = pool.take(8192);
    }
    EXPECT_EQ(pool.kept(), 16384U);
    const Buffer taken = pool.take(8192);
    EXPECT_EQ(pool.kept(), 8192U);
}

TEST(BufferPool, ABufferMovesWithoutBeingGivenBack) {
    BufferPool pool(kPlenty);
    Buffer first = pool.take(4096);
    char* const data = first.data();
    Buffer second = std::move(first);
    EXPECT_EQ(second.data(), data);
    EXPECT_EQ(pool.kept(), 0U);
}

TEST(MemoryBudget, RefusesWhatDoesNotFitAndTakesNothingThen) {
    MemoryBudget budget(1000);
    EXPECT_TRUE(budget.try_take(600));
    EXPECT_FALSE(budget.try_take(401));
    EXPECT_EQ(budget.used(), 600U);
    EXPECT_TRUE(budget.try_take(400));
    EXPECT_FALSE(budget.try_take(~std::size_t{0}));
}

TEST(MemoryShare, GrowsByTheDifferenceAndGivesAllBack) {
    MemoryBudget budget(1000);
    {
        MemoryShare share(budget);
        EXPECT_TRUE(share.grow_to(300));
        EXPECT_TRUE(share.grow_to(200));
        EXPECT_EQ(budget.used(), 300U);
        EXPECT_TRUE(share.grow_to(1000));
        EXPECT_FALSE(share.grow_to(1001));
        EXPECT_EQ(budget.used(), 1000U);
    }
    EXPECT_EQ(budget.used(), 0U);
}

TEST(MemoryShare, KeepsWhatItHasUnderALowerLimit) {
    MemoryBudget budget(100);
    MemoryShare share(budget);
    EXPECT_TRUE(share.grow_to(80));
    budget.set_limit(50, 0);
    EXPECT_FALSE(share.grow_to(81));
    share.release();
    EXPECT_TRUE(share.grow_to(50));
    EXPECT_FALSE(share.grow_to(51));
    budget.set_limit(200, 0);
    EXPECT_TRUE(share.grow_to(200));
}

TEST(MemoryShare, OneAtATimeMayUseThePartKeptBackAndThenFinishes) {
    MemoryBudget budget(100, 50);
    MemoryShare one(budget);
    MemoryShare two(budget);
    EXPECT_TRUE(one.grow_to(25));
    EXPECT_TRUE(two.grow_to(25));
    EXPECT_TRUE(one.grow_to(30));
    EXPECT_FALSE(two.grow_to(30));
    EXPECT_TRUE(one.grow_to(50));
    EXPECT_LE(budget.used(), 100U);
    one.release();
    EXPECT_TRUE(two.grow_to(50));
    MemoryShare three(budget);
    EXPECT_TRUE(three.grow_to(50)) << "the part kept back was returned";
    two.release();
    three.release();
    EXPECT_EQ(budget.used(), 0U);
}

}  // namespace
}  // namespace prefix_router::net
