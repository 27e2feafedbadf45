#include "routing/backlog.hpp"

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace prefix_router::routing {
namespace {

const AnswerTimes kNothingLearned;

Backlog::Entry entry(Seconds service, bool streams = true) {
    Backlog::Entry made;
    made.answers = &kNothingLearned;
    made.service = service;
    made.streams = streams;
    return made;
}

TEST(BacklogTest, WhatIsLeftOfTheHeadAndAllOfTheRestGoesFirst) {
    Backlog backlog;
    Backlog::Entry a = entry(2);
    Backlog::Entry b = entry(3);
    backlog.push(a, 0);
    backlog.push(b, 0);
    EXPECT_DOUBLE_EQ(backlog.wait(0), 5);
    EXPECT_DOUBLE_EQ(backlog.wait(1), 1 + 3);
}

TEST(BacklogTest, TheHeadCountsAtLeastAFractionAndLatenessCountsOnTop) {
    Backlog backlog;
    Backlog::Entry a = entry(2);
    Backlog::Entry b = entry(3);
    backlog.push(a, 0);
    backlog.push(b, 0);
    EXPECT_DOUBLE_EQ(backlog.wait(2), 0.3 + 3);
    EXPECT_DOUBLE_EQ(backlog.wait(4), 0.3 + 2 + 3);
    EXPECT_DOUBLE_EQ(backlog.wait(1000), 0.3 + 120 + 3);
}

TEST(BacklogTest, TheNextIsServedFromTheFirstByteBefore) {
    Backlog backlog;
    Backlog::Entry a = entry(2);
    Backlog::Entry b = entry(3);
    backlog.push(a, 0);
    backlog.push(b, 1);
    backlog.remove(a, 4);
    EXPECT_DOUBLE_EQ(backlog.wait(4), 3);
    EXPECT_DOUBLE_EQ(backlog.wait(5), 2);
    backlog.remove(b, 7);
    EXPECT_EQ(backlog.wait(7), 0);
    EXPECT_EQ(backlog.pending(), 0U);
}

TEST(BacklogTest, OneServedOutOfOrderShowsProgress) {
    Backlog backlog;
    Backlog::Entry a = entry(2);
    Backlog::Entry b = entry(1);
    backlog.push(a, 0);
    backlog.push(b, 0);
    EXPECT_DOUBLE_EQ(backlog.wait(4), 0.3 + 2 + 1);
    backlog.remove(b, 4);
    EXPECT_DOUBLE_EQ(backlog.wait(4), 2);
}

TEST(BacklogTest, TheSumDoesNotDrift) {
    Backlog backlog;
    std::array<Backlog::Entry, 3> entries{entry(0.1), entry(0.7), entry(1e9)};
    for (int i = 0; i < 1000; ++i) {
        for (auto& each : entries) {
            backlog.push(each, i);
        }
        for (auto& each : entries) {
            backlog.remove(each, i);
        }
    }
    EXPECT_EQ(backlog.wait(1000), 0);
}

TEST(BacklogTest, LanesShareTheWork) {
    Backlog backlog;
    backlog.set_lanes(2);
    std::array<Backlog::Entry, 3> entries{entry(2), entry(2), entry(4)};
    for (auto& each : entries) {
        backlog.push(each, 0);
    }
    EXPECT_DOUBLE_EQ(backlog.wait(0), 8.0 / 2);
    EXPECT_DOUBLE_EQ(backlog.wait(1), (1 + 1 + 4) / 2.0);
    backlog.remove(entries[0], 2);
    EXPECT_DOUBLE_EQ(backlog.wait(2), (0.3 + 4) / 2);
    EXPECT_DOUBLE_EQ(backlog.wait(4), (0.3 + 2 + 2) / 2);
}

TEST(BacklogTest, ANonStreamingAnswerIsTakenAsServedAfterItsTime) {
    Backlog backlog;
    Backlog::Entry plain = entry(2, false);
    Backlog::Entry streamed = entry(3);
    backlog.push(plain, 0);
    backlog.push(streamed, 0);
    EXPECT_FALSE(backlog.settle(1.9));
    EXPECT_TRUE(backlog.settle(2.5));
    EXPECT_DOUBLE_EQ(backlog.wait(2.5), 2.5);
    EXPECT_EQ(backlog.pending(), 1U);
    backlog.remove(plain, 3);
    backlog.remove(streamed, 5);
    EXPECT_EQ(backlog.wait(6), 0);
}

TEST(BacklogTest, ANonStreamingAnswerThatNeverComesIsLateInTheEnd) {
    Backlog backlog;
    Backlog::Entry plain = entry(2, false);
    backlog.push(plain, 0);
    backlog.settle(5);
    EXPECT_EQ(backlog.wait(5), 0);
    EXPECT_EQ(backlog.wait(32), 0) << "30 s are believed normal while nothing was learned";
    EXPECT_DOUBLE_EQ(backlog.wait(33), 31);
    backlog.remove(plain, 33);
    EXPECT_EQ(backlog.wait(34), 0);
}

TEST(BacklogTest, ManySilentAnswersAreLateSoonerThanOne) {
    AnswerTimes answers;
    for (int i = 1; i <= 128; ++i) {
        answers.add(i * 0.1);
    }
    const auto late_at = [&](std::size_t silent) {
        Backlog backlog;
        std::vector<Backlog::Entry> entries(silent, entry(1, false));
        for (auto& each : entries) {
            each.answers = &answers;
            backlog.push(each, 0);
        }
        Seconds now = static_cast<Seconds>(silent);
        while (!backlog.settle(now) || backlog.pending() > 0) {
        }
        while (backlog.wait(now) == 0) {
            now += 0.1;
        }
        return now - static_cast<Seconds>(silent);
    };
    EXPECT_NEAR(late_at(1), 12.7, 0.5);
    EXPECT_NEAR(late_at(4), 7.5, 1.5);
    EXPECT_LT(late_at(12), 2);
}

TEST(BacklogTest, AnAnswerEndsTheSilenceAndACancelledOneDoesNot) {
    AnswerTimes answers;
    for (int i = 0; i < 20; ++i) {
        answers.add(1 + i * 0.01);
    }
    Backlog backlog;
    std::array<Backlog::Entry, 3> entries{entry(1, false), entry(1, false), entry(1, false)};
    for (auto& each : entries) {
        each.answers = &answers;
        backlog.push(each, 0);
        while (backlog.settle(3)) {
        }
    }
    EXPECT_DOUBLE_EQ(backlog.wait(5), 4);
    backlog.remove(entries[0], 5, Backlog::Leaves::Unanswered);
    EXPECT_DOUBLE_EQ(backlog.wait(5.5), 4.5);
    backlog.remove(entries[1], 6);
    EXPECT_EQ(backlog.wait(6.4), 0);
    backlog.remove(entries[2], 7);
}

TEST(BacklogTest, ALateHeadThatIsCancelledLeavesTheNextOneLate) {
    Backlog backlog;
    std::array<Backlog::Entry, 3> entries{entry(2), entry(1), entry(1)};
    for (auto& each : entries) {
        backlog.push(each, 0);
    }
    backlog.remove(entries[2], 8, Backlog::Leaves::Unanswered);
    EXPECT_DOUBLE_EQ(backlog.wait(8), 0.3 + 6 + 1) << "one further behind says nothing";
    backlog.remove(entries[0], 8, Backlog::Leaves::Unanswered);
    EXPECT_DOUBLE_EQ(backlog.wait(8), 0.15 + 5);
    backlog.remove(entries[1], 9);
}

}  // namespace
}  // namespace prefix_router::routing
