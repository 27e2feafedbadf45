// The promises of prefix_map.hpp, one by one.

#include "prefix_router/prefix/prefix_map.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "prefix_router/base/random.hpp"

#include "unit/prefix/lru_model.hpp"

namespace prefix_router::prefix {
namespace {

constexpr BackendSlot kA{0};
constexpr BackendSlot kB{1};

OwnedChain chain_of(std::uint64_t seed, std::size_t blocks, std::uint32_t tokens = 10) {
    OwnedChain chain;
    Random random(seed);
    for (std::size_t block = 0; block < blocks; ++block) {
        chain.add(random(), tokens);
    }
    return chain;
}

OwnedChain extended(OwnedChain chain, std::uint64_t seed, std::size_t blocks) {
    Random random(seed);
    for (std::size_t block = 0; block < blocks; ++block) {
        chain.add(random(), 10);
    }
    return chain;
}

std::uint32_t depth(const PrefixMap& map, const OwnedChain& chain, BackendSlot backend) {
    std::vector<Match> out(kMaxBackends);
    map.match(chain.view(), std::vector<BackendSlot>{backend}, out);
    return out[backend.index()].blocks;
}

class PrefixMapTest : public testing::Test {
  protected:
    PrefixMapTest() {
        map_.add_backend(kA, 1000);
        map_.add_backend(kB, 1000);
    }
    /// A request for what is computed.
    void send_again(const OwnedChain& chain) {
        map_.touch_and_pin(chain.view(), kA, chain.hashes.size());
    }
    PrefixMap map_{PrefixMap::Options{.memory_bytes = std::size_t{16} << 20}};
};

TEST_F(PrefixMapTest, WhatIsCachedBesideTheBlocksPushesOutWhatIsOlder) {
    const OwnedChain old = chain_of(1, 50);
    const OwnedChain young = chain_of(2, 20);
    map_.touch(old.view(), kA);
    map_.fill(kA, 500);
    EXPECT_EQ(depth(map_, old, kA), 50U);
    map_.fill(kA, 100);
    EXPECT_EQ(depth(map_, old, kA), 40U);
    map_.touch(young.view(), kA);
    EXPECT_EQ(depth(map_, old, kA), 20U);
    EXPECT_EQ(depth(map_, young, kA), 20U);
    std::vector<StackDistance> distances;
    map_.distances(old.view(), kA, distances);
    EXPECT_EQ(distances.front(), 800) << "of the root: all that came after it";
    map_.fill(kA, Tokens{1} << 50);
    EXPECT_EQ(depth(map_, young, kA), 0U);
    EXPECT_EQ(map_.resident(kA), 1000);
    map_.fill(kA, -5);
    map_.fill(BackendSlot(7), 10);
}

TEST_F(PrefixMapTest, FindsTheDepthOfEveryBackendAtOnce) {
    const OwnedChain chain = chain_of(1, 20);
    map_.touch(chain.first(7).view(), kA);
    map_.touch(chain.first(13).view(), kB);
    std::vector<Match> out(2);
    map_.match(chain.view(), std::vector<BackendSlot>{kA, kB}, out);
    EXPECT_EQ(out[0].blocks, 7U);
    EXPECT_EQ(out[0].tokens, 70);
    EXPECT_EQ(out[1].blocks, 13U);
    EXPECT_EQ(out[1].tokens, 130);
}

TEST_F(PrefixMapTest, LeavesBackendsAloneThatWereNotAskedFor) {
    const OwnedChain chain = chain_of(1, 5);
    map_.touch(chain.view(), kA);
    map_.touch(chain.view(), kB);
    std::vector<Match> out(2, Match{99, 99});
    map_.match(chain.view(), std::vector<BackendSlot>{kB}, out);
    EXPECT_EQ(out[0].blocks, 99U);
    EXPECT_EQ(out[1].blocks, 5U);
}

TEST_F(PrefixMapTest, EvictsLeavesBeforeRootsAndOldChainsBeforeYoungOnes) {
    const OwnedChain old_chain = chain_of(1, 60);
    map_.touch(old_chain.view(), kA);
    map_.touch(chain_of(2, 60).view(), kA);
    EXPECT_EQ(depth(map_, old_chain, kA), 40U);
    EXPECT_EQ(depth(map_, chain_of(2, 60), kA), 60U);
    EXPECT_EQ(map_.resident(kA), 1000);
}

TEST_F(PrefixMapTest, AGrownCapacityBringsGhostsBackAndAShrunkOneHidesThem) {
    const OwnedChain chain = chain_of(1, 90);
    map_.touch(chain.view(), kA);
    map_.set_capacity(kA, 300);
    EXPECT_EQ(depth(map_, chain, kA), 30U);
    map_.set_capacity(kA, 700);
    EXPECT_EQ(depth(map_, chain, kA), 70U);
}

TEST_F(PrefixMapTest, GhostsBeyondEightCapacitiesAreForgotten) {
    map_.set_capacity(kA, 100);
    const OwnedChain chain = chain_of(1, 10);
    map_.touch(chain.view(), kA);
    map_.touch(chain_of(2, 75).view(), kA);
    std::vector<StackDistance> distances;
    map_.distances(chain.view(), kA, distances);
    EXPECT_EQ(distances[0], 750);
    EXPECT_EQ(distances[9], kNever);
}

TEST_F(PrefixMapTest, APinnedChainIsBelievedUntilItIsUnpinned) {
    const OwnedChain chain = chain_of(1, 30);
    map_.touch(chain.view(), kA);
    send_again(chain);
    for (std::uint64_t seed = 2; seed < 40; ++seed) {
        map_.touch(chain_of(seed, 50).view(), kA);
    }
    EXPECT_EQ(depth(map_, chain, kA), 30U);
    EXPECT_EQ(map_.pinned(kA), 300);
    map_.unpin_computed(chain.view(), kA);
    EXPECT_EQ(depth(map_, chain, kA), 0U);
    EXPECT_EQ(map_.pinned(kA), 0);
}

TEST_F(PrefixMapTest, BelievesNothingBesideRequestsThatFillTheCache) {
    const OwnedChain ended = chain_of(1, 10);
    const OwnedChain waiting = chain_of(2, 40);
    map_.set_capacity(kA, 400);
    map_.touch(waiting.view(), kA);
    send_again(waiting);
    map_.touch(ended.view(), kA);
    EXPECT_EQ(depth(map_, ended, kA), 0U) << "the waiting request takes its place";
    EXPECT_EQ(depth(map_, waiting, kA), 40U);
    map_.unpin_computed(waiting.view(), kA);
    EXPECT_EQ(depth(map_, ended, kA), 10U);
    EXPECT_EQ(depth(map_, waiting, kA), 30U);
}

TEST_F(PrefixMapTest, CountsPinsExactlyBeyondTheEightBitsOfACopy) {
    const OwnedChain chain = chain_of(1, 3);
    map_.touch(chain.view(), kA);
    for (int i = 0; i < 1000; ++i) {
        send_again(chain);
    }
    for (int i = 0; i < 999; ++i) {
        map_.unpin_computed(chain.view(), kA);
        EXPECT_EQ(map_.pinned(kA), 30);
    }
    map_.unpin_computed(chain.view(), kA);
    EXPECT_EQ(map_.pinned(kA), 0);
}

TEST_F(PrefixMapTest, CountsJoinedPinsExactlyBeyondTheEightBitsOfACopy) {
    const OwnedChain chain = chain_of(1, 3);
    for (int i = 0; i < 1000; ++i) {
        map_.touch_and_pin(chain.view(), kA);
    }
    for (int i = 0; i < 999; ++i) {
        map_.unpin_and_touch(chain.view(), kA);
        EXPECT_EQ(map_.pinned(kA), 30);
    }
    map_.unpin_and_touch(chain.view(), kA);
    EXPECT_EQ(map_.pinned(kA), 0);
}

TEST_F(PrefixMapTest, TouchesOnlyFromTheBlockThatIsNamed) {
    const OwnedChain chain = chain_of(1, 10);
    map_.touch(chain.view(), kA);
    map_.touch(chain.view(), kB, 4);
    std::vector<StackDistance> distances;
    map_.distances(chain.view(), kB, distances);
    EXPECT_EQ(distances[3], kNever);
    EXPECT_LT(distances[9], kNever);
    map_.touch(chain.view(), kB, 11);
    EXPECT_EQ(map_.resident(kB), 60);
}

TEST_F(PrefixMapTest, AClearedBackendsBlocksLeaveTheTableEvenWhenNoneIsAdded) {
    map_.set_capacity(kA, 100'000);
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
        map_.touch(chain_of(seed, 100, 1).view(), kA);
    }
    const std::size_t full = map_.memory_bytes();
    const OwnedChain chain = chain_of(1000, 100, 1);
    map_.touch(chain.view(), kB);
    map_.clear_backend(kA);
    for (int i = 0; i < 10'000; ++i) {
        map_.touch(chain.view(), kB);
    }
    EXPECT_LT(map_.memory_bytes(), full / 2);
}

TEST_F(PrefixMapTest, EraseSparesWhatAnotherRequestPins) {
    const OwnedChain shared = chain_of(1, 5);
    const OwnedChain failed = extended(shared, 2, 5);
    map_.touch(failed.view(), kA);
    send_again(shared);
    map_.erase(failed.view(), kA, 0);
    EXPECT_EQ(depth(map_, failed, kA), 5U);
}

TEST_F(PrefixMapTest, AReusedSlotInheritsNothing) {
    const OwnedChain chain = chain_of(1, 20);
    map_.touch(chain.view(), kA);
    send_again(chain);
    map_.remove_backend(kA);
    EXPECT_EQ(map_.entries(), 0U);
    map_.add_backend(kA, 1000);
    EXPECT_EQ(depth(map_, chain, kA), 0U);
    EXPECT_EQ(map_.pinned(kA), 0);
    EXPECT_EQ(map_.working_set(kA), 0);
    map_.touch(chain.first(4).view(), kA);
    EXPECT_EQ(depth(map_, chain, kA), 4U);
}

TEST_F(PrefixMapTest, AClearedBackendKeepsCapacityAndPinsButNoBlocks) {
    const OwnedChain chain = chain_of(1, 20);
    map_.touch(chain.view(), kA);
    send_again(chain);
    map_.clear_backend(kA);
    EXPECT_EQ(depth(map_, chain, kA), 0U);
    EXPECT_EQ(map_.capacity(kA), 1000);
    map_.unpin_computed(chain.view(), kA);
    EXPECT_EQ(map_.pinned(kA), 0);
    EXPECT_EQ(map_.resident(kA), 0);
}

TEST_F(PrefixMapTest, TheWorkingSetIsWhatWasTouchedWithinTheWindow) {
    map_.tick(0, 120);
    map_.touch(chain_of(1, 10).view(), kA);
    map_.tick(100, 120);
    map_.touch(chain_of(2, 20).view(), kA);
    EXPECT_EQ(map_.working_set(kA), 300);
    map_.tick(130, 120);
    EXPECT_EQ(map_.working_set(kA), 200);
    map_.tick(230, 120);
    EXPECT_EQ(map_.working_set(kA), 0);
}

TEST(PrefixMapLimits, ServesAThousandBackendsWithDepthsOfTheirOwn) {
    PrefixMap map{PrefixMap::Options{.memory_bytes = std::size_t{64} << 20}};
    const OwnedChain chain = chain_of(1, 128);
    std::vector<BackendSlot> all;
    for (std::size_t i = 0; i < kMaxBackends; ++i) {
        all.push_back(BackendSlot(static_cast<std::uint16_t>(i)));
        map.add_backend(all.back(), 10'000);
        map.touch(chain.first(i * 37 % 129).view(), all.back());
    }
    std::vector<Match> out(kMaxBackends);
    map.match(chain.view(), all, out);
    for (std::size_t i = 0; i < kMaxBackends; ++i) {
        EXPECT_EQ(out[i].blocks, i * 37 % 129) << "backend " << i;
    }
}

TEST(PrefixMapLimits, HoldsItsMemoryBoundAndKeepsTheYoungest) {
    constexpr std::size_t kBytes = std::size_t{4} << 20;
    PrefixMap map{PrefixMap::Options{.memory_bytes = kBytes}};
    map.add_backend(kA, 1'000'000'000);
    map.add_backend(kB, 1'000'000'000);
    const OwnedChain shared = chain_of(77, 8);
    for (std::uint64_t seed = 1; seed <= 6000; ++seed) {
        const OwnedChain chain = extended(shared, seed, 92);
        map.touch(chain.view(), seed % 3 == 0 ? kA : kB);
        ASSERT_LE(map.memory_bytes(), kBytes) << "chain " << seed;
        ASSERT_EQ(depth(map, chain, seed % 3 == 0 ? kA : kB), 100U) << "chain " << seed;
    }
    EXPECT_GT(map.entries(), kBytes / 16 / 2);
    EXPECT_EQ(depth(map, extended(shared, 1, 92), kB), 8U) << "the oldest leaves are gone";
}

}  // namespace
}  // namespace prefix_router::prefix
