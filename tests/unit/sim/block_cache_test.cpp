#include "sim/block_cache.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "prefix_router/base/random.hpp"

namespace prefix_router::sim {
namespace {

using Ids = std::vector<std::uint64_t>;

TEST(BlockCache, KeepsReleasedChainsUntilRoomIsNeeded) {
    BlockCache cache(4);
    const Ids chain = {1, 2, 3};
    ASSERT_TRUE(cache.acquire(chain, 0));
    cache.release(chain, 3, {}, 0);
    EXPECT_EQ(cache.match(chain), 3U);
    EXPECT_EQ(cache.free(), 1U);
    EXPECT_EQ(cache.evictable(), 3U);
}

TEST(BlockCache, EvictsLeavesBeforeRoots) {
    BlockCache cache(4);
    const Ids chain = {1, 2, 3};
    ASSERT_TRUE(cache.acquire(chain, 0));
    cache.release(chain, 3, {}, 0);
    ASSERT_TRUE(cache.acquire(Ids{9, 8}, 0));
    EXPECT_EQ(cache.match(chain), 2U);
    EXPECT_EQ(cache.evicted(), 1U);
}

TEST(BlockCache, NeverEvictsPinnedBlocks) {
    BlockCache cache(4);
    ASSERT_TRUE(cache.acquire(Ids{1, 2, 3}, 0));
    EXPECT_FALSE(cache.acquire(Ids{7, 8}, 0));
    EXPECT_EQ(cache.match(Ids{1, 2, 3}), 3U);
    EXPECT_EQ(cache.free(), 1U);
}

TEST(BlockCache, DoesNotCountTheRequestsOwnBlocksAsRoom) {
    BlockCache cache(4);
    ASSERT_TRUE(cache.acquire(Ids{1, 2}, 0));
    cache.release(Ids{1, 2}, 2, {}, 0);
    EXPECT_FALSE(cache.acquire(Ids{1, 2}, 3));
    EXPECT_TRUE(cache.acquire(Ids{1, 2}, 2));
}

TEST(BlockCache, SharesPinnedBlocksBetweenRequests) {
    BlockCache cache(3);
    ASSERT_TRUE(cache.acquire(Ids{1, 2}, 0));
    ASSERT_TRUE(cache.acquire(Ids{1, 3}, 0));
    EXPECT_EQ(cache.free(), 0U);
    cache.release(Ids{1, 2}, 2, {}, 0);
    EXPECT_EQ(cache.evictable(), 1U) << "block 1 is still pinned by the second request";
    cache.release(Ids{1, 3}, 2, {}, 0);
    EXPECT_EQ(cache.evictable(), 3U);
}

TEST(BlockCache, FreesBlocksThatWereNeverComputed) {
    BlockCache cache(4);
    ASSERT_TRUE(cache.acquire(Ids{1, 2, 3}, 1));
    cache.release(Ids{1, 2, 3}, 1, {}, 1);
    EXPECT_EQ(cache.match(Ids{1, 2, 3}), 1U);
    EXPECT_EQ(cache.free(), 2U);
    EXPECT_EQ(cache.evictable(), 2U) << "block 1 and the anonymous one";
}

TEST(BlockCache, NamesAnswerBlocksAsFarAsTheirRoomGoes) {
    BlockCache cache(4);
    ASSERT_TRUE(cache.acquire(Ids{1}, 2));
    cache.release(Ids{1}, 1, Ids{2}, 2);
    EXPECT_EQ(cache.match(Ids{1, 2}), 2U);
    EXPECT_EQ(cache.free() + cache.evictable(), 4U);
}

TEST(BlockCache, FlushKeepsOnlyWhatIsPinned) {
    BlockCache cache(4);
    ASSERT_TRUE(cache.acquire(Ids{1}, 0));
    ASSERT_TRUE(cache.acquire(Ids{2}, 0));
    cache.release(Ids{2}, 1, {}, 0);
    cache.flush();
    EXPECT_EQ(cache.match(Ids{1}), 1U);
    EXPECT_EQ(cache.match(Ids{2}), 0U);
    EXPECT_EQ(cache.free(), 3U);
}

TEST(BlockCache, ShrinksByTheOldestBlocksAndByPinnedOnesWhenTheyAreReleased) {
    BlockCache cache(6);
    ASSERT_TRUE(cache.acquire(Ids{1, 2}, 0));
    ASSERT_TRUE(cache.acquire(Ids{3}, 0));
    cache.release(Ids{3}, 1, {}, 0);
    cache.resize(3);
    EXPECT_EQ(cache.capacity(), 3U);
    EXPECT_EQ(cache.match(Ids{3}), 1U) << "free blocks go first";
    cache.resize(1);
    EXPECT_EQ(cache.match(Ids{3}), 0U);
    EXPECT_EQ(cache.capacity(), 2U) << "what is pinned stays";
    cache.release(Ids{1, 2}, 2, {}, 0);
    EXPECT_EQ(cache.capacity(), 1U);
    EXPECT_EQ(cache.match(Ids{1, 2}), 1U);
    cache.resize(4);
    EXPECT_EQ(cache.capacity(), 4U);
    EXPECT_EQ(cache.free() + cache.evictable(), 4U);
}

TEST(BlockCache, NeverLosesABlockUnderRandomUse) {
    const std::uint64_t seed = 11;
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    BlockCache cache(60);
    struct Held {
        Ids ids;
        std::size_t anonymous;
    };
    std::vector<Held> held;
    std::size_t refused = 0;
    for (int step = 0; step < 20'000; ++step) {
        if (held.empty() || random.below(2) == 0) {
            Held next;
            const std::uint64_t chain = random.below(6) * 100;
            for (std::uint64_t k = random.below(12); k-- > 0;) next.ids.push_back(chain + k);
            std::reverse(next.ids.begin(), next.ids.end());
            next.anonymous = random.below(4);
            if (cache.acquire(next.ids, next.anonymous)) {
                held.push_back(next);
            } else {
                ++refused;
            }
        } else {
            const std::size_t at = random.below(held.size());
            const Held done = held[at];
            held.erase(held.begin() + static_cast<std::ptrdiff_t>(at));
            const Ids answer = {done.ids.size() + 5000, done.ids.size() + 5001};
            cache.release(done.ids, random.below(done.ids.size() + 1), answer, done.anonymous);
        }
        if (step % 100 == 0) cache.resize(40 + random.below(40));
        ASSERT_LE(cache.free() + cache.evictable(), cache.capacity());
    }
    EXPECT_GT(refused, 100U);
    for (const Held& each : held) cache.release(each.ids, each.ids.size(), {}, each.anonymous);
    EXPECT_EQ(cache.free() + cache.evictable(), cache.capacity());
}

}  // namespace
}  // namespace prefix_router::sim
