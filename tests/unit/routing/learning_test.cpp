#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "prefix_router/base/random.hpp"

#include "routing/chain.hpp"
#include "routing/learning/answer_times.hpp"
#include "routing/learning/capacity_learner.hpp"
#include "routing/learning/foreign_load.hpp"
#include "routing/learning/median_window.hpp"
#include "routing/learning/prefill_model.hpp"
#include "routing/learning/rate_average.hpp"
#include "routing/learning/report_watch.hpp"
#include "routing/learning/token_ratio.hpp"

namespace prefix_router::routing {
namespace {

TEST(MedianWindowTest, OnlyTheLastSamplesCount) {
    MedianWindow window(3);
    EXPECT_EQ(window.median(7), 7);
    for (const double sample : {100.0, 1.0, 2.0, 3.0}) {
        window.add(sample);
    }
    EXPECT_EQ(window.median(0), 2);
}

TEST(AnswerTimesTest, SurpriseFollowsTheLastAnswers) {
    AnswerTimes answers;
    EXPECT_EQ(answers.surprise(29), 0);
    EXPECT_GT(answers.surprise(31), 10) << "nothing learned yet";
    Random random(4);
    for (int i = 0; i < 300; ++i) {
        answers.add(100 * random.unit());  // forgotten
    }
    for (int i = 128; i > 0; --i) {
        answers.add(i);
    }
    EXPECT_EQ(answers.surprise(0), 0);
    EXPECT_EQ(answers.surprise(0.5), 0);
    EXPECT_NEAR(answers.surprise(64), std::log(2), 0.01);
    EXPECT_NEAR(answers.surprise(128), std::log(257), 0.01);
    EXPECT_NEAR(answers.surprise(256), std::log(257) + 4 * std::log(2), 0.01);
}

pool::ScrapedLoad reported(double running, double waiting) {
    pool::ScrapedLoad load;
    load.running = running;
    load.waiting = waiting;
    return load;
}

TEST(ForeignLoadTest, IsWhatTheEngineReportsBeyondTheMostOfOurs) {
    ForeignLoad foreign;
    foreign.scraped(reported(5, 7), 0, 0, 100);
    EXPECT_EQ(foreign.total(100), 12);
    EXPECT_EQ(foreign.waiting(100), 7);
    foreign.sent(4, 2);
    foreign.scraped(reported(5, 7), 1, 0, 101);
    EXPECT_EQ(foreign.total(101), 8);
    EXPECT_EQ(foreign.waiting(101), 5);
    foreign.scraped(reported(5, 7), 1, 0, 102);
    EXPECT_EQ(foreign.total(102), 8) << "the engine may still report those that have ended";
    foreign.scraped(reported(5, 7), 1, 0, 103);
    foreign.scraped(reported(5, 7), 1, 0, 104);
    EXPECT_EQ(foreign.total(104), 11);
}

TEST(ForeignLoadTest, OurOwnLoadIsNeverForeignHoweverOldTheReportIs) {
    Random random(8);
    ForeignLoad foreign;
    std::vector<double> in_flight{0};  // by tenth of a second
    std::vector<double> awaiting{0};
    for (std::size_t tenth = 1; tenth < 3000; ++tenth) {
        const double before = in_flight.back();
        const bool is_sent = random.below(2) == 0 && before < 30;
        in_flight.push_back(is_sent ? before + 1 : std::max(0.0, before - 1));
        awaiting.push_back(std::min(in_flight.back(), static_cast<double>(random.below(5))));
        foreign.sent(in_flight.back(), awaiting.back());
        if (tenth % 10 == 0 && tenth > 20) {
            const std::size_t old = tenth - random.below(20);
            const double waits = std::min(awaiting[old], in_flight[old]);
            const Seconds now = static_cast<double>(tenth) / 10;
            foreign.scraped(reported(in_flight[old] - waits, waits), in_flight.back(),
                            awaiting.back(), now);
            EXPECT_EQ(foreign.total(now), 0);
            EXPECT_EQ(foreign.waiting(now), 0);
        }
    }
}

TEST(ForeignLoadTest, OldReportsSayNothing) {
    ForeignLoad foreign;
    foreign.scraped(reported(5, 0), 0, 0, 100);
    foreign.scraped(reported(5, 0), 0, 0, 102);
    EXPECT_EQ(foreign.total(108), 5);
    EXPECT_EQ(foreign.total(108.1), 0);
}

TEST(RateAverageTest, ASteadyRateIsFoundAndForgotten) {
    RateAverage rate;
    for (int i = 0; i < 6000; ++i) {
        rate.add(2.0, i * 0.1);
    }
    EXPECT_NEAR(rate.at(600), 20, 0.2);
    EXPECT_NEAR(rate.at(660), 20 / std::exp(1.0), 0.3);
}

Seconds truth(Tokens uncached, Tokens prompt, double length) {
    const double n = static_cast<double>(prompt);
    const double hit = n - static_cast<double>(uncached);
    return 0.03 + ((n - hit) + (n * n - hit * hit) / (2 * length)) / 8000;
}

class PrefillModelTest : public testing::Test {
  protected:
    void teach(BackendSlot backend, int samples, double length, double slower = 1,
               double outliers = 0) {
        for (int i = 0; i < samples; ++i) {
            const auto prompt = static_cast<Tokens>(1200 + random_.below(100'000));
            const auto uncached =
                static_cast<Tokens>(1 + random_.below(static_cast<std::uint64_t>(prompt)));
            Seconds measured = 0.03 + (truth(uncached, prompt, length) - 0.03) * slower;
            if (random_.unit() < outliers) {
                measured *= 5;
            }
            model_.learn(backend, {uncached, prompt, measured});
            model_.learn(backend, {100, 200, 0.03});
        }
    }

    Random random_{1};
    PrefillModel model_;
};

TEST_F(PrefillModelTest, TheLinearFormIsItsSpecialCase) {
    teach(BackendSlot(0), 300, 1e18);
    EXPECT_NEAR(model_.per_token(), 1.0 / 8000, 2e-6);
    EXPECT_NEAR(model_.per_token_and_position(), 0, 1e-12);
    EXPECT_NEAR(model_.estimate(BackendSlot(0), 8000, 8000), 1.03, 0.02);
}

TEST_F(PrefillModelTest, PromptsOfLikeLengthDoNotMakeALongOneLookManyTimesTooDear) {
    for (int i = 0; i < 100; ++i) {
        const auto uncached = static_cast<Tokens>(3'800 + random_.below(60));
        const double noise = 1 + 0.1 * (random_.unit() - 0.5);
        model_.learn(BackendSlot(0), {uncached, uncached, truth(uncached, uncached, 1e18) * noise});
    }
    EXPECT_NEAR(model_.estimate(BackendSlot(0), 40'000, 40'000), 5, 0.5);
}

TEST_F(PrefillModelTest, GrowthWithPositionIsLearnedThroughOutliers) {
    teach(BackendSlot(0), 300, 32'000, 1, 0.2);
    for (const Tokens prompt : {5'000, 40'000, 100'000}) {
        EXPECT_NEAR(model_.estimate(BackendSlot(0), prompt / 2, prompt),
                    truth(prompt / 2, prompt, 32'000), 0.05 * truth(prompt / 2, prompt, 32'000));
    }
}

TEST_F(PrefillModelTest, ABackendLeavesTheFleetOnlyWhenItIsClearlyDifferent) {
    teach(BackendSlot(0), 100, 1e18);
    teach(BackendSlot(1), 30, 1e18, 1.3);
    teach(BackendSlot(2), 30, 1e18, 2.0);
    EXPECT_EQ(model_.factor(BackendSlot(0)), 1);
    EXPECT_EQ(model_.factor(BackendSlot(1)), 1);
    EXPECT_NEAR(model_.factor(BackendSlot(2)), 2, 0.3);
    model_.forget(BackendSlot(2));
    EXPECT_EQ(model_.factor(BackendSlot(2)), 1);
}

TEST_F(PrefillModelTest, TheOverheadIsAtMostHalfASecond) {
    for (int i = 0; i < 10; ++i) {
        model_.learn(BackendSlot(0), {100, 200, 20.0});
    }
    EXPECT_EQ(model_.overhead(), 0.5);
}

TEST(TokenRatioTest, TheMedianIsUsedAndSmallChangesAreNot) {
    TokenRatio ratio;
    EXPECT_EQ(ratio.bytes_per_token(), 4);
    for (int i = 0; i < 5; ++i) {
        ratio.learn(4100, 1000);
    }
    EXPECT_EQ(ratio.bytes_per_token(), 4);  // within 3 %
    for (int i = 0; i < 20; ++i) {
        ratio.learn(3000, 1000);
    }
    EXPECT_EQ(ratio.bytes_per_token(), 3);
    ratio.learn(100, 1);  // too short to tell
    EXPECT_EQ(ratio.bytes_per_token(), 3);
}

bool denied(FlushDetector& flush, Tokens believed, Tokens reported, Tokens distance = 1000) {
    return flush.learn({believed, reported, distance, 500'000}) == FlushDetector::Verdict::Flushed;
}

TEST(FlushDetectorTest, ThreeDenialsRunningDropTheMap) {
    FlushDetector flush;
    EXPECT_FALSE(denied(flush, 5000, 0));
    EXPECT_FALSE(denied(flush, 5000, 0));
    EXPECT_FALSE(denied(flush, 5000, 100));
    EXPECT_FALSE(denied(flush, 5000, 0));
    EXPECT_FALSE(denied(flush, 500, 0));  // believed little: says nothing
    EXPECT_FALSE(denied(flush, 5000, 0));
    EXPECT_TRUE(denied(flush, 5000, 0));
}

TEST(FlushDetectorTest, IsSuspiciousUntilAHit) {
    using Verdict = FlushDetector::Verdict;
    FlushDetector flush;
    EXPECT_EQ(flush.learn({5000, 0, 1000, 500'000}), Verdict::Suspected);
    EXPECT_EQ(flush.learn({500, 0, 1000, 500'000}), Verdict::Suspected);
    EXPECT_EQ(flush.learn({5000, 100, 1000, 500'000}), Verdict::Fine);
    EXPECT_EQ(flush.learn({500, 0, 1000, 500'000}), Verdict::Fine);
}

TEST(TokensOfTest, StayInTheirRangeWhateverTheRatio) {
    std::vector<std::uint32_t> tokens;
    const std::vector<std::uint32_t> ends{256, 600, 0x90000000U, 0xffffffffU};
    tokens_of(ends, 0.5, tokens);
    EXPECT_EQ(tokens, (std::vector<std::uint32_t>{512, 1200, 0x80000000U, 0x80000000U}));
    tokens.clear();
    tokens_of(ends, 4, tokens);
    EXPECT_EQ(tokens, (std::vector<std::uint32_t>{64, 150, 0x24000000U, 0x3fffffffU}));
}

TEST(RateAverageTest, WhatIsTakenBackLeavesNothing) {
    RateAverage rate;
    rate.add(10, 0);
    rate.add(60, 5);
    rate.take_back(60, 5, 50);
    EXPECT_NEAR(rate.at(50), 10.0 / 60 * std::exp(-50.0 / 60), 1e-12);
    rate.take_back(10, 0, 70);
    EXPECT_NEAR(rate.at(70), 0, 1e-12);
}

TEST(FlushDetectorTest, DenialsOfOldBlocksSpeakOfTheCapacity) {
    FlushDetector flush;
    for (int i = 0; i < 10; ++i) {
        EXPECT_FALSE(denied(flush, 5000, 0, 200'000));
    }
}

TEST(EngineBlockTest, TheDivisorOfReportsIsTheBlock) {
    EngineBlock block;
    EXPECT_EQ(block.size(), 1);
    for (const Tokens reported : {256, 0, 128, 1280, 384}) {
        block.learn(reported);
    }
    EXPECT_EQ(block.size(), 128);
    block.learn(1279);
    EXPECT_EQ(block.size(), 1);
}

TEST(EngineBlockTest, TheSameAnswerAgainAndAgainIsNoBlock) {
    EngineBlock block;
    for (int i = 0; i < 10; ++i) {
        block.learn(6144);
    }
    EXPECT_EQ(block.size(), 1);
}

TEST(DistanceProfileTest, DistancesComeBackByBlock) {
    DistanceProfile profile;
    const std::vector<prefix::StackDistance> distances{100, 100, 5000, 5001, 9000, prefix::kNever};
    profile.assign(distances);
    EXPECT_EQ(profile.at(0), 100);
    EXPECT_EQ(profile.at(1), 100);
    EXPECT_EQ(profile.at(3), 5000);
    EXPECT_EQ(profile.at(4), 9000);
    EXPECT_EQ(profile.at(5), prefix::kNever);
    EXPECT_EQ(profile.farthest(0, 2), 100);
    EXPECT_EQ(profile.farthest(1, 6), 9000);
    EXPECT_EQ(profile.farthest(5, 6), 0);
}

/// An LRU cache of `capacity` tokens asked for chains whose blocks were touched at random
/// distances.
Tokens learned_capacity(double start, double truth, int reports) {
    CapacityLearner learner;
    learner.start(static_cast<Tokens>(start * truth), CapacityLearner::Source::Guessed, 0);
    Random random(3);
    for (int i = 0; i < reports; ++i) {
        std::vector<prefix::StackDistance> distances;
        auto distance = static_cast<Tokens>(random.unit() * truth);
        for (int block = 0; block < 20; ++block) {
            distance += static_cast<Tokens>(random.unit() * truth * 0.2);
            distances.push_back(distance);
        }
        DistanceProfile profile;
        profile.assign(distances);
        CapacityLearner::Report report{0, 0, 20};
        for (const Tokens d : distances) {
            report.expected_blocks += d < learner.believed() ? 1U : 0U;
            report.actual_blocks += static_cast<double>(d) < truth ? 1U : 0U;
        }
        learner.learn(report, profile);
    }
    return learner.believed();
}

TEST(CapacityLearnerTest, ItConvergesFromTooSmallAndTooLarge) {
    for (const double start : {0.3, 3.0}) {
        const auto learned = static_cast<double>(learned_capacity(start, 500'000, 400));
        EXPECT_GT(learned, 450'000) << start;
        EXPECT_LT(learned, 650'000) << start;
    }
}

TEST(CapacityLearnerTest, ItStaysAboveHalfOfAConfiguredValue) {
    CapacityLearner learner;
    learner.start(1'000'000, CapacityLearner::Source::Guessed, 500'000);
    DistanceProfile profile;
    const std::vector<prefix::StackDistance> distances(10, 1000);
    profile.assign(distances);
    for (int i = 0; i < 1000; ++i) {
        learner.learn({10, 0, 10}, profile);
    }
    EXPECT_EQ(learner.believed(), 500'000);
}

TEST(CapacityLearnerTest, ItIsNeverBelowWhatIsInUse) {
    CapacityLearner learner;
    learner.start(100'000, CapacityLearner::Source::Guessed, 0);
    EXPECT_FALSE(learner.holds_at_least(90'000));
    EXPECT_TRUE(learner.holds_at_least(150'000));
    EXPECT_EQ(learner.believed(), 150'000);
}

TEST(CapacityLearnerTest, RoomForRunningRequestsIsKnownOnlyWhereItIsToldAndNotRefuted) {
    CapacityLearner guessed;
    guessed.start(100'000, CapacityLearner::Source::Guessed, 0);
    EXPECT_FALSE(guessed.room());

    CapacityLearner told;
    told.start(100'000, CapacityLearner::Source::Told, 0);
    DistanceProfile profile;
    const std::vector<prefix::StackDistance> distances(10, 1000);
    profile.assign(distances);
    told.learn({10, 0, 10}, profile);
    EXPECT_LT(told.believed(), 100'000);
    EXPECT_EQ(told.room(), 100'000) << "what the cache loses early is no wait for memory";
    told.holds_at_least(100'000);
    EXPECT_EQ(told.room(), 100'000);
    told.holds_at_least(100'001);
    EXPECT_FALSE(told.room());
}

TEST(CapacityLearnerTest, ABeliefThatNothingContradictsIsProbed) {
    CapacityLearner learner;
    learner.start(100'000, CapacityLearner::Source::Guessed, 0);
    DistanceProfile profile;
    const std::vector<prefix::StackDistance> far{50'000, 90'000};
    profile.assign(far);
    EXPECT_FALSE(learner.learn({1, 1, 2}, profile));
    EXPECT_TRUE(learner.learn({2, 2, 2}, profile));
    EXPECT_EQ(learner.believed(), 108'000);
}

DistanceProfile distances_of(std::vector<prefix::StackDistance> distances) {
    DistanceProfile profile;
    profile.assign(distances);
    return profile;
}

CapacityLearner told_100k() {
    CapacityLearner learner;
    learner.start(100'000, CapacityLearner::Source::Told, 0);
    return learner;
}

TEST(CapacityLearnerTest, ATellingIsNotProbedBeyondWhatWasTold) {
    CapacityLearner learner = told_100k();
    for (int i = 0; i < 50; ++i) {
        learner.learn({2, 2, 2}, distances_of({50'000, 99'000}));
    }
    EXPECT_EQ(learner.believed(), 100'000);
}

TEST(CapacityLearnerTest, ATellingThatDenialsLoweredComesBackToWhatWasTold) {
    CapacityLearner learner = told_100k();
    learner.learn({2, 1, 2}, distances_of({10'000, 20'000}));
    const Tokens lowered = learner.believed();
    EXPECT_LT(lowered, 80'000);
    for (int i = 0; i < 50; ++i) {
        learner.learn({1, 1, 2}, distances_of({learner.believed() - 1'000, 200'000}));
    }
    EXPECT_EQ(learner.believed(), 100'000);
}

TEST(CapacityLearnerTest, OnlyRepeatedHitsBeyondATellingThatNothingDeniesRefuteIt) {
    const auto beyond = distances_of({50'000, 300'000});
    CapacityLearner learner = told_100k();
    for (int round = 0; round < 10; ++round) {
        for (int i = 0; i < 7; ++i) {
            learner.learn({1, 2, 2}, beyond);
        }
        learner.learn({2, 1, 2}, distances_of({10'000, 99'000}));
    }
    EXPECT_LE(learner.believed(), 100'000) << "a denial came after each seven";
    for (int i = 0; i < 8; ++i) {
        learner.learn({1, 2, 2}, beyond);
    }
    EXPECT_GT(learner.believed(), 130'000);
    for (int i = 0; i < 30; ++i) {
        learner.learn({1, 2, 2}, beyond);
    }
    EXPECT_GT(learner.believed(), 290'000) << "from then on it is a guess";
}

TEST(CapacityLearnerTest, MoreInUseThanWasToldMustAlsoBeSeenRepeatedly) {
    CapacityLearner learner = told_100k();
    EXPECT_FALSE(learner.holds_at_least(104'000)) << "sizes in use are estimates";
    for (int i = 0; i < 7; ++i) {
        learner.holds_at_least(104'000);
    }
    EXPECT_EQ(learner.believed(), 104'000);
}

TEST(CapacityLearnerTest, ADoubtHalvesItUntilConfirmed) {
    CapacityLearner learner;
    learner.start(1'000'000, CapacityLearner::Source::Guessed, 0);
    learner.doubt();
    EXPECT_EQ(learner.believed(), 500'000);
    EXPECT_TRUE(learner.confirm());
    EXPECT_EQ(learner.believed(), 1'000'000);
    EXPECT_FALSE(learner.confirm());
}

}  // namespace
}  // namespace prefix_router::routing
