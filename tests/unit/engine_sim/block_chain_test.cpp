#include "engine_sim/block_chain.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "engine_sim/answer_text.hpp"

namespace prefix_router::engine_sim {
namespace {

std::string distinct_text(std::size_t bytes) {
    std::string text;
    for (std::size_t i = 0; text.size() < bytes; ++i) text += std::to_string(i) + " ";
    text.resize(bytes);
    return text;
}

BlockChain chain_of(const std::string& text, const std::string& model = "m",
                    const std::string& salt = "") {
    BlockChain chain(model, salt);
    chain.append(text);
    return chain;
}

TEST(BlockChain, CountsOnlyFullBlocksOf64Bytes) {
    EXPECT_EQ(chain_of(distinct_text(63)).blocks().size(), 0U);
    EXPECT_EQ(chain_of(distinct_text(64)).blocks().size(), 1U);
    EXPECT_EQ(chain_of(distinct_text(1000)).blocks().size(), 15U);
}

TEST(BlockChain, DoesNotDependOnHowTheTextIsCutIntoPieces) {
    const std::string text = distinct_text(1000);
    const BlockChain whole = chain_of(text);
    for (const std::size_t piece : {1U, 7U, 63U, 64U, 65U, 500U}) {
        BlockChain chain("m", "");
        for (std::size_t at = 0; at < text.size(); at += piece)
            chain.append(std::string_view(text).substr(at, piece));
        EXPECT_EQ(chain.blocks(), whole.blocks()) << piece;
        EXPECT_EQ(chain.digest(), whole.digest()) << piece;
        EXPECT_EQ(chain.bytes(), text.size());
    }
}

TEST(BlockChain, GivesEqualIdsUpToTheFirstDifferenceAndNoneAfterIt) {
    const std::string text = distinct_text(1024);
    std::string other = text;
    other[5 * 64 + 3] = '#';
    const auto a = chain_of(text).blocks();
    const auto b = chain_of(other).blocks();
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i] == b[i], i < 5) << i;
}

TEST(BlockChain, GivesEqualBlocksAtDifferentPositionsDifferentIds) {
    auto ids = chain_of(std::string(64 * 100, 'x')).blocks();
    std::sort(ids.begin(), ids.end());
    EXPECT_EQ(std::unique(ids.begin(), ids.end()), ids.end());
}

TEST(BlockChain, SeparatesModelsAndCacheSalts) {
    const std::string text = distinct_text(640);
    const auto plain = chain_of(text, "m").blocks();
    EXPECT_NE(plain, chain_of(text, "n").blocks());
    EXPECT_NE(plain, chain_of(text, "m", "tenant").blocks());
    EXPECT_NE(chain_of(text, "ab", "c").blocks(), chain_of(text, "a", "bc").blocks());
}

TEST(AnswerText, HasFourBytesPerTokenAndBeginsWithTheMarker) {
    EXPECT_EQ(answer_text(7, 0x00c0ffee, 10).size(), 40U);
    EXPECT_EQ(answer_text(7, 0x00c0ffee, 10).substr(0, 8), "00c0ffee");
    EXPECT_EQ(answer_text(7, 0x00c0ffee, 1), "00c0");
}

TEST(AnswerText, IsAFunctionOfThePromptAndAShorterOneIsItsBeginning) {
    EXPECT_EQ(answer_text(7, 1, 50), answer_text(7, 1, 50));
    EXPECT_NE(answer_text(7, 1, 50), answer_text(8, 1, 50));
    EXPECT_TRUE(answer_text(7, 1, 50).starts_with(answer_text(7, 1, 20)));
}

TEST(AnswerText, NeedsNoEscapingInJson) {
    for (const char c : answer_text(123, 0xdeadbeef, 2000))
        EXPECT_TRUE(c == ' ' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'));
}

TEST(Fnv1a32, MatchesThePublishedVectors) {
    EXPECT_EQ(fnv1a_32(""), 0x811c9dc5U);
    EXPECT_EQ(fnv1a_32("a"), 0xe40c292cU);
    EXPECT_EQ(fnv1a_32("foobar"), 0xbf9cf968U);
}

}  // namespace
}  // namespace prefix_router::engine_sim
