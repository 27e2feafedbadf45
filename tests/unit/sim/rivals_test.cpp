#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "sim/rivals/prefix_index.hpp"
#include "sim/rivals/rival.hpp"

namespace prefix_router::sim {
namespace {

using Ids = std::vector<std::uint64_t>;

Ids chain(std::uint64_t first, std::size_t count) {
    Ids ids(count);
    std::iota(ids.begin(), ids.end(), first);
    return ids;
}

/// Four backends of 100 blocks of 100 tokens, 1,000 tokens/s.
class Rivals : public testing::Test {
  protected:
    Rivals() {
        EngineOptions options;
        options.kv_tokens = 10'000;
        options.block_tokens = 100;
        options.prefill_rate = 1'000;
        options.overhead = 0;
        for (int k = 0; k < 4; ++k) engines_.emplace_back(options);
        fleet_ = {engines_, 100, 10'000, 1'000, 1};
    }

    Prompt prompt(const Ids& ids) {
        return {number_++, static_cast<Tokens>(ids.size()) * 100 + 1, ids, ids.front()};
    }
    /// Chooses and sends; the prompt stays in flight without its first token.
    std::size_t send(Rival& rival, const Ids& ids, Seconds now = 0) {
        const Prompt each = prompt(ids);
        const std::size_t backend = rival.choose(each, now);
        rival.sent(each, backend, now);
        return backend;
    }
    /// Sends and finishes.
    std::size_t serve(Rival& rival, const Ids& ids, Seconds now = 0) {
        const Prompt each = prompt(ids);
        const std::size_t backend = rival.choose(each, now);
        rival.sent(each, backend, now);
        rival.first_token(each, backend);
        rival.finished(each, backend);
        return backend;
    }

    std::vector<Engine> engines_;
    RivalFleet fleet_;
    std::size_t number_ = 0;
};

TEST(PrefixIndex, IsAnLruSetThatForgetsLeavesFirst) {
    PrefixIndex index(4);
    index.touch(chain(1, 3), 1);
    index.touch(chain(11, 2), 2);
    EXPECT_EQ(index.match(chain(1, 3)), 2U);
    EXPECT_EQ(index.match(chain(11, 2)), 2U);
    EXPECT_EQ(index.match(chain(99, 1)), 0U);
    EXPECT_EQ(index.size(), 4U);
}

TEST(PrefixIndex, ForgetsWhatWasTouchedLongAgo) {
    PrefixIndex index;
    index.touch(chain(1, 3), 1);
    index.touch(chain(11, 3), 2);
    index.touch(chain(1, 2), 3);
    index.expire(2);
    EXPECT_EQ(index.match(chain(1, 3)), 2U);
    EXPECT_EQ(index.match(chain(11, 3)), 0U);
}

TEST_F(Rivals, AreFoundByName) {
    const Trace trace;
    EXPECT_EQ(rival_names().size(), 6U);
    for (const auto name : rival_names())
        EXPECT_NE(make_rival_policy(name, fleet_, trace), nullptr);
    EXPECT_EQ(make_rival_policy("adaptive", fleet_, trace), nullptr);
}

TEST_F(Rivals, CacheAwareFollowsAMatchAndElsePicksTheSmallestTree) {
    const auto rival = make_rival_cache_aware(fleet_);
    const std::size_t home = serve(*rival, chain(0, 10));
    EXPECT_EQ(serve(*rival, chain(0, 12)), home);
    std::set<std::size_t> used = {home};
    for (std::uint64_t k = 1; k < 4; ++k) used.insert(serve(*rival, chain(1000 * k, 10)));
    EXPECT_EQ(used.size(), 4U);
}

TEST_F(Rivals, CacheAwareLeavesAMatchWhenTheFleetIsOutOfBalance) {
    const auto rival = make_rival_cache_aware(fleet_);
    const std::size_t home = send(*rival, chain(0, 10));
    for (int k = 0; k < 64; ++k) EXPECT_EQ(send(*rival, chain(0, 10)), home);
    EXPECT_NE(send(*rival, chain(0, 10)), home);
}

TEST_F(Rivals, BlendWeighsPrefixAgainstTheQueueItScrapes) {
    const auto rival = make_rival_blend(fleet_);
    const std::size_t home = serve(*rival, chain(0, 10));
    EXPECT_EQ(serve(*rival, chain(0, 10), 1), home);
    const Ids other = chain(500, 10);
    for (int k = 0; k < 5; ++k) engines_[home].submit({other, 1'001, 100, {}}, 1);
    EXPECT_EQ(serve(*rival, chain(0, 10), 1.04), home) << "the last scrape is 40 ms old";
    EXPECT_EQ(serve(*rival, chain(0, 10), 1.06), home) << "3 for the prefix, 2 for the queue";
    const Ids half = [] {
        Ids ids = chain(0, 5);
        const Ids tail = chain(700, 5);
        ids.insert(ids.end(), tail.begin(), tail.end());
        return ids;
    }();
    EXPECT_NE(serve(*rival, half, 1.2), home) << "1.5 for the prefix, 2 for the queue";
}

TEST_F(Rivals, StickyStaysUntilTheQueueIsFourteenSecondsLonger) {
    const auto rival = make_rival_sticky(fleet_);
    const std::size_t home = serve(*rival, chain(0, 50));
    // Each adds 1,001 uncached tokens, a second, to the home's queue.
    Ids longer = chain(0, 50);
    longer.resize(60);
    std::size_t stayed = 0;
    for (std::uint64_t k = 0; k < 20; ++k) {
        std::iota(longer.begin() + 50, longer.end(), 1'000 + 10 * k);
        if (send(*rival, longer) != home) break;
        ++stayed;
    }
    EXPECT_EQ(stayed, 14U);
}

TEST_F(Rivals, BoundedHashGoesOnWhenTheHomeIsOverItsShare) {
    const auto rival = make_rival_bounded_hash(fleet_);
    const std::size_t home = serve(*rival, chain(5, 3));
    EXPECT_EQ(serve(*rival, chain(5, 9)), home) << "only the start is hashed";
    EXPECT_EQ(send(*rival, chain(5, 3)), home);
    EXPECT_NE(send(*rival, chain(5, 3)), home) << "1 in flight is over 2 / 4 x 1.25";
}

TEST_F(Rivals, ProductPrefersFewInFlightTimesTokens) {
    const auto rival = make_rival_product(fleet_);
    const std::size_t home = serve(*rival, chain(0, 20));
    EXPECT_EQ(send(*rival, chain(0, 20)), home);
    EXPECT_EQ(send(*rival, chain(0, 20)), home) << "2 tokens x 2 against 2,001 x 1";
}

TEST_F(Rivals, KvRouterForgetsAPrefixAfterTwoMinutes) {
    const auto rival = make_rival_kv_router(fleet_);
    const std::size_t home = serve(*rival, chain(0, 20), 0);
    EXPECT_EQ(serve(*rival, chain(0, 20), 119), home);
    std::set<std::size_t> used;
    for (int k = 0; k < 10; ++k) used.insert(serve(*rival, chain(0, 20), 1'000.0 * (k + 1)));
    EXPECT_GT(used.size(), 1U) << "all equal: by chance";
}

}  // namespace
}  // namespace prefix_router::sim
