#include "routing/learning/lane_learner.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "prefix_router/base/random.hpp"

namespace prefix_router::routing {
namespace {

/// A backend with `lanes` servers, each shared by `sharing` prefills, fed so that `depth` requests
/// are pending; the learner's idea of the service times is off by up to `error`.
class Feeder {
  public:
    Feeder(double lanes, std::size_t sharing, double error)
        : lanes_(lanes), places_(static_cast<std::size_t>(lanes) * sharing), error_(error) {}

    std::size_t run(std::size_t depth, int requests) {
        double now = 0;
        for (int i = 0; i < requests;) {
            while (left_.size() < depth) {
                const double service = 0.5 + random_.unit() * 3;
                left_.push_back(service);
                expected_.push_back(service * (1 + error_ * (random_.unit() * 2 - 0.5)));
                learner_.pending_changed(left_.size(), now);
            }
            const std::size_t active = std::min(places_, left_.size());
            const double rate = std::min(1.0, lanes_ / static_cast<double>(active));
            const auto end = left_.begin() + static_cast<std::ptrdiff_t>(active);
            const auto first = std::min_element(left_.begin(), end);
            const auto index = static_cast<std::size_t>(first - left_.begin());
            const double work = *first;
            now += work / rate;
            std::for_each(left_.begin(), end, [&](double& left) { left -= work; });
            learner_.completed(expected_[index]);
            left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(index));
            expected_.erase(expected_.begin() + static_cast<std::ptrdiff_t>(index));
            learner_.pending_changed(left_.size(), now);
            ++i;
        }
        return learner_.lanes();
    }

  private:
    double lanes_;
    std::size_t places_;
    double error_;
    Random random_{5};
    std::vector<double> left_;
    std::vector<double> expected_;
    LaneLearner learner_;
};

TEST(LaneLearnerTest, AFifoEngineHasOneLane) {
    EXPECT_EQ(Feeder(1, 1, 0.3).run(4, 200), 1U);
}

TEST(LaneLearnerTest, AnEngineThatInterleavesHasOneLane) {
    EXPECT_EQ(Feeder(1, 4, 0.3).run(6, 200), 1U);
}

TEST(LaneLearnerTest, FourLanesAreFoundWhenEnoughIsPending) {
    EXPECT_EQ(Feeder(4, 1, 0.0).run(6, 200), 4U);
    EXPECT_NEAR(static_cast<double>(Feeder(4, 1, 0.3).run(6, 200)), 4, 1);
}

TEST(LaneLearnerTest, NoMoreLanesAreClaimedThanWereEverUsed) {
    EXPECT_EQ(Feeder(4, 1, 0.0).run(2, 200), 2U);
}

TEST(LaneLearnerTest, AStretchWithACancelledRequestSaysNothing) {
    LaneLearner learner;
    for (int i = 0; i < 50; ++i) {
        const double now = i * 10.0;
        learner.pending_changed(2, now);
        learner.spoiled();
        learner.completed(5);
        learner.completed(5);
        learner.pending_changed(0, now + 1);
    }
    EXPECT_EQ(learner.lanes(), 1U);
}

}  // namespace
}  // namespace prefix_router::routing
