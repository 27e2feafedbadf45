#include "prefix_router/routing/prefix_sample.hpp"

#include <vector>

#include "unit/routing/router_fixture.hpp"

namespace prefix_router::routing {
namespace {

class PrefixSampleTest : public RouterTest {
  protected:
    /// A prompt that begins with `shared` blocks of one seed and goes on for `own` of another.
    static prompt::PromptKey prompt(std::size_t shared, std::uint64_t seed, std::size_t own) {
        prompt::PromptKey made = key(1, shared);
        extend(made, seed, own);
        return made;
    }
    std::vector<HotPrefix> hot(std::size_t limit = 10) const {
        auto ranked = rank_prefixes(router_->sampled_prompts(), limit);
        for (HotPrefix& prefix : ranked) {
            prefix.copies = map_.copies(prefix.hash);
        }
        return ranked;
    }
    void start_sampling(std::size_t kept) {
        Router::Options options = sent_at_once();
        options.kept_decisions = kept;
        start(2, options);
    }
};

TEST_F(PrefixSampleTest, FindsWherePromptsPart) {
    start_sampling(16);
    for (std::uint64_t seed = 10; seed < 15; ++seed) {
        admit(prompt(6, seed, 4));
    }
    const auto found = hot();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found.front().hash, key(1, 6).hashes.back());
    EXPECT_EQ(found.front().tokens, 6 * 512);
    EXPECT_EQ(found.front().prompts, 5U);
    EXPECT_GE(found.front().copies, 1U);
}

TEST_F(PrefixSampleTest, ShowsNothingWhereNothingIsShared) {
    start_sampling(16);
    for (std::uint64_t seed = 10; seed < 15; ++seed) {
        admit(key(seed, 20));
    }
    EXPECT_TRUE(hot().empty());
}

TEST_F(PrefixSampleTest, PutsFirstWhatStandsForTheMostTokens) {
    start_sampling(16);
    for (int i = 0; i < 4; ++i) {
        admit(key(7, 2));  // 3 * 1,024 tokens shared
    }
    admit(key(8, 40));  // 40 blocks are marked at 36: 18,432 tokens shared once
    admit(key(8, 40));
    const auto found = hot();
    ASSERT_EQ(found.size(), 2U);
    EXPECT_GT(found[0].tokens, 30 * 512);
    EXPECT_LE(found[0].tokens, 40 * 512);
    EXPECT_EQ(found[1].tokens, 2 * 512);
    EXPECT_EQ(hot(1).size(), 1U);
}

TEST_F(PrefixSampleTest, ForgetsTheOldest) {
    start_sampling(4);
    admit(key(7, 2));
    admit(key(7, 2));
    for (std::uint64_t seed = 10; seed < 14; ++seed) {
        admit(key(seed, 2));
    }
    EXPECT_TRUE(hot().empty());
    EXPECT_EQ(router_->sampled_prompts().size(), 4U);
}

TEST_F(PrefixSampleTest, TakesAFixedAmountOfTheLongestPrompt) {
    start_sampling(4);
    admit(key(7, 20'000));
    admit(key(7, 20'000));
    const auto found = hot();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_GT(found.front().tokens, 512 * 100);
}

TEST_F(PrefixSampleTest, CountsTheBackendsThatHoldABlock) {
    const BackendSlot a{0};
    const BackendSlot b{1};
    start_sampling(0);
    const prompt::PromptKey shared = key(3, 4);
    const std::vector<std::uint32_t> ends(shared.ends.begin(), shared.ends.end());
    EXPECT_EQ(map_.copies(shared.hashes[2]), 0U);
    map_.touch({shared.hashes, ends}, a);
    EXPECT_EQ(map_.copies(shared.hashes[2]), 1U);
    map_.touch({shared.hashes, ends}, b);
    EXPECT_EQ(map_.copies(shared.hashes[2]), 2U);
    map_.clear_backend(a);
    EXPECT_EQ(map_.copies(shared.hashes[2]), 1U);
    EXPECT_TRUE(router_->sampled_prompts().empty());
}

}  // namespace
}  // namespace prefix_router::routing
