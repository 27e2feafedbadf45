#include "routing/slot_cache.hpp"

#include <string>

#include <gtest/gtest.h>

#include "unit/prefix/lru_model.hpp"

namespace prefix_router::routing {
namespace {

using prefix::OwnedChain;

/// Blocks of 100 tokens; a letter stands for the prefix up to it.
OwnedChain chain(const std::string& letters) {
    OwnedChain chain;
    std::uint64_t hash = 1;
    for (const char letter : letters) {
        hash = hash * 1'000'003 + static_cast<unsigned char>(letter);
        chain.add(hash, 100);
    }
    return chain;
}

class SlotCacheTest : public testing::Test {
  protected:
    Tokens expected(const std::string& letters) const {
        return cache_.outlook(chain(letters).view(), now_).match.tokens;
    }
    std::size_t ahead(const std::string& letters) const {
        return cache_.outlook(chain(letters).view(), now_).ahead;
    }
    void sent(int user, const std::string& letters) {
        cache_.sent(&users_[user], chain(letters).view(), ++now_);
    }
    void ended(int user, const std::string& letters) {
        cache_.ended(&users_[user], chain(letters).view(), ++now_);
    }
    void serve(int user, const std::string& letters) {
        sent(user, letters);
        ended(user, letters);
    }

    SlotCache cache_{2};
    Seconds now_ = 1000;
    int users_[8] = {};
};

TEST_F(SlotCacheTest, ASlotKeepsItsLastPromptAndAnswerOnly) {
    sent(0, "AB");
    ended(0, "ABC");
    EXPECT_EQ(expected("ABCD"), 300);
    EXPECT_EQ(expected("AX"), 100);
    serve(0, "AX");
    EXPECT_EQ(expected("ABCD"), 100) << "the similar slot was taken, not the empty one";
}

TEST_F(SlotCacheTest, ABusySlotLendsNothing) {
    serve(0, "ABC");
    sent(1, "ABCD");
    EXPECT_EQ(expected("ABCE"), 0);
    ended(1, "ABCD");
    EXPECT_EQ(expected("ABCE"), 300);
}

TEST_F(SlotCacheTest, ABusySlotIsFreeForTheRequestThatGoesOnFromItsPrompt) {
    sent(0, "ABC");
    EXPECT_EQ(expected("ABC"), 0) << "the same prompt may be another's";
    EXPECT_EQ(expected("ABCD"), 300);
    sent(1, "ABCD");
    ended(0, "ABCX");
    EXPECT_EQ(expected("ABCDE"), 400);
    sent(2, "Z");
    EXPECT_EQ(ahead("Y"), 1U);
    ended(1, "ABCD");
    EXPECT_EQ(ahead("Y"), 0U);
}

TEST_F(SlotCacheTest, WithoutASimilarPromptTheLeastRecentlyUsedSlotIsTaken) {
    serve(0, "A");
    serve(1, "B");
    serve(2, "C");
    EXPECT_EQ(expected("A"), 0);
    EXPECT_EQ(expected("B"), 100);
    EXPECT_EQ(expected("C"), 100);
}

TEST_F(SlotCacheTest, ATenthInCommonIsNotSimilar) {
    serve(0, "ABC");
    serve(1, "XYZ");
    serve(2, "AQQQQQQQQQ");  // takes the slot of ABC as the oldest
    serve(3, "XQQQQQQQQQ");
    EXPECT_EQ(expected("AQQQQQQQQQ"), 1000);
    serve(4, "XYYYYYYYYYY");
    EXPECT_EQ(expected("AQQQQQQQQQ"), 0) << "1 of 11 is less than a tenth: the oldest was taken";
}

TEST_F(SlotCacheTest, RequestsBeyondTheSlotsWaitForTheFirstEnd) {
    sent(0, "A");
    sent(1, "B");
    EXPECT_FALSE(cache_.has_free());
    EXPECT_EQ(ahead("A"), 1U);
    EXPECT_EQ(expected("A"), 100) << "the first that began will end first";
    EXPECT_EQ(expected("B"), 0);
    sent(2, "C");
    EXPECT_EQ(ahead("B"), 2U);
    EXPECT_EQ(expected("B"), 100);
    sent(3, "D");
    EXPECT_EQ(expected("C"), 100) << "after two ends it gets the slot of the one that waits first";
    ended(1, "B");
    EXPECT_FALSE(cache_.has_free()) << "C has it";
    ended(2, "C");
    ended(0, "A");
    EXPECT_TRUE(cache_.has_free());
    EXPECT_EQ(expected("A"), 100);
    ended(3, "D");
    EXPECT_EQ(expected("D"), 100);
}

TEST_F(SlotCacheTest, OneThatWaitsMayLeave) {
    sent(0, "A");
    sent(1, "B");
    sent(2, "C");
    ended(2, "");
    EXPECT_EQ(ahead("X"), 1U);
    ended(0, "A");
    EXPECT_TRUE(cache_.has_free());
    ended(7, "Z");  // never sent
    EXPECT_EQ(expected("Z"), 0);
}

TEST_F(SlotCacheTest, WhatTheEngineDidNotTakeLeavesTheSlotAsItWas) {
    serve(0, "A");
    serve(1, "B");
    sent(2, "AX");
    EXPECT_EQ(expected("A"), 0);
    cache_.withdrawn(&users_[2], ++now_);
    EXPECT_EQ(expected("A"), 100);
    EXPECT_EQ(expected("B"), 100);
}

TEST_F(SlotCacheTest, SlotsUsedLatelyAreWorthKeepingButForTheOneThatIsTakenUp) {
    const auto kept = [&](const std::string& letters, Seconds later) {
        return cache_.outlook(chain(letters).view(), now_ + later).kept_slots;
    };
    EXPECT_EQ(kept("A", 0), 0);
    serve(0, "A");
    serve(1, "B");
    EXPECT_EQ(kept("AX", 0), 1);
    EXPECT_NEAR(kept("C", 58), 1.5, 1e-9) << "A, which would go, was used a minute ago";
    EXPECT_EQ(kept("C", 119), 1) << "A is too old to count";
    EXPECT_EQ(kept("C", 121), 0);
    sent(2, "A");
    sent(3, "B");
    EXPECT_EQ(kept("C", 200), 2) << "none is free";
}

TEST_F(SlotCacheTest, AFlushedCacheKeepsWhoIsWhere) {
    serve(0, "A");
    sent(1, "B");
    cache_.clear();
    EXPECT_EQ(expected("A"), 0);
    EXPECT_TRUE(cache_.has_free());
    sent(2, "A");
    EXPECT_FALSE(cache_.has_free());
    ended(1, "B");
    EXPECT_EQ(expected("B"), 100);
}

TEST_F(SlotCacheTest, PromptsWithoutAKeyUseSlotsToo) {
    serve(0, "A");
    sent(1, "");
    sent(2, "");
    EXPECT_FALSE(cache_.has_free());
    ended(1, "");
    ended(2, "");
    EXPECT_EQ(expected("A"), 0);
}

}  // namespace
}  // namespace prefix_router::routing
