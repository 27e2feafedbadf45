#include "sim/session_finder.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace prefix_router::sim {
namespace {

using namespace std::chrono_literals;
using Key = std::vector<std::uint64_t>;

TEST(SessionFinder, ARequestThatExtendsAnEndedOneIsItsNextTurn) {
    SessionFinder finder(100);
    const auto first = finder.note(Key{1, 2}, 0s, 10s);
    const auto other = finder.note(Key{1, 9}, 5s, 11s);
    const auto second = finder.note(Key{1, 2, 3, 4}, 25s, 30s);
    const auto third = finder.note(Key{1, 2, 3, 4, 5}, 31s, 40s);
    EXPECT_NE(other.session, first.session) << "a shared start is no extension";
    EXPECT_EQ(second.session, first.session);
    EXPECT_EQ(second.think, 15s);
    EXPECT_EQ(third.session, first.session);
    EXPECT_EQ(third.think, 1s);
    EXPECT_EQ(first.think, 0s);
}

TEST(SessionFinder, TheSamePromptAgainIsANewSession) {
    SessionFinder finder(100);
    const auto first = finder.note(Key{1, 2}, 0s, 1s);
    EXPECT_NE(finder.note(Key{1, 2}, 2s, 3s).session, first.session);
}

TEST(SessionFinder, GoesOnFromTheLongestRequest) {
    SessionFinder finder(100);
    finder.note(Key{1}, 0s, 1s);
    const auto longer = finder.note(Key{5, 6, 7}, 0s, 2s);
    finder.note(Key{5}, 0s, 3s);
    EXPECT_EQ(finder.note(Key{5, 6, 7, 8}, 4s, 5s).session, longer.session);
}

TEST(SessionFinder, ForgetsAfterAnHour) {
    SessionFinder finder(100);
    const auto first = finder.note(Key{1}, 0s, 1s);
    EXPECT_EQ(finder.note(Key{1, 2}, 3601s, 3602s).session, first.session);
    EXPECT_NE(finder.note(Key{1, 3}, 3603s, 3604s).session, first.session);
}

TEST(SessionFinder, ThinkingIsNeverNegative) {
    SessionFinder finder(100);
    finder.note(Key{1}, 0s, 10s);
    EXPECT_EQ(finder.note(Key{1, 2}, 5s, 12s).think, 0s) << "sent before the answer had ended";
}

TEST(SessionFinder, RemembersNoMoreThanItMay) {
    SessionFinder finder(10);
    for (std::uint64_t k = 0; k < 1'000; ++k) finder.note(Key{k % 50, 1000 + k}, 1s, 1s);
    EXPECT_LE(finder.remembered(), 11U);
    EXPECT_EQ(finder.note(Key{}, 1s, 1s).session, 1'000U) << "no key: a session of its own";
}

}  // namespace
}  // namespace prefix_router::sim
