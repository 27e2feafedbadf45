#include "prefix_router/pool/health.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace prefix_router::pool {
namespace {

using State = Health::State;

enum class Event {
    GoodProbe,
    BadProbe,
    GoodRequest,
    BadRequest,
    BeginTrial,
    AbandonTrial,
    Nothing
};

struct Step {
    double at_seconds;
    Event event;
    State expected;
    bool wants_trial = false;
};

struct Scenario {
    std::string claim;
    std::vector<Step> steps;
};

TimePoint at(double seconds) {
    return TimePoint(from_seconds(seconds));
}

void apply(Health& health, Health::Trial& trial, Event event, TimePoint now) {
    switch (event) {
        case Event::GoodProbe:
            return health.probe_succeeded(now);
        case Event::BadProbe:
            return health.probe_failed(now);
        case Event::GoodRequest:
            return health.request_succeeded(now);
        case Event::BadRequest:
            return health.request_failed(now);
        case Event::BeginTrial:
            trial = health.begin_trial(now);
            return;
        case Event::AbandonTrial:
            return health.abandon_trial(trial);
        case Event::Nothing:
            return;
    }
}

using enum Event;

const std::vector<Scenario>& scenarios() {
    static const std::vector<Scenario> all{
        {"a good probe makes an unknown backend healthy", {{0, GoodProbe, State::Healthy}}},
        {"a good request makes an unknown backend healthy", {{0, GoodRequest, State::Healthy}}},
        {"failed probes since the start eject nobody, who may still be loading, but are told",
         {{0, Nothing, State::Unknown},
          {0, BadProbe, State::Unhealthy},
          {2, BadProbe, State::Unhealthy},
          {4, BadProbe, State::Unhealthy},
          {6, BadProbe, State::Unhealthy},
          {8, GoodProbe, State::Healthy}}},
        {"a good request makes a backend healthy whose probes failed",
         {{0, BadProbe, State::Unhealthy}, {1, GoodRequest, State::Healthy}}},
        {"three failed probes in a row eject",
         {{0, GoodProbe, State::Healthy},
          {2, BadProbe, State::Healthy},
          {4, BadProbe, State::Healthy},
          {6, BadProbe, State::Ejected}}},
        {"a good probe between failed ones starts the count anew",
         {{0, GoodProbe, State::Healthy},
          {1, BadProbe, State::Healthy},
          {2, BadProbe, State::Healthy},
          {3, GoodProbe, State::Healthy},
          {4, BadProbe, State::Healthy},
          {5, BadProbe, State::Healthy}}},
        {"three failed requests in a row eject, whatever the probes say",
         {{0, GoodProbe, State::Healthy},
          {1, BadRequest, State::Healthy},
          {2, GoodProbe, State::Healthy},
          {3, BadRequest, State::Healthy},
          {4, BadRequest, State::Ejected}}},
        {"a good request between failed ones starts the count anew",
         {{0, GoodProbe, State::Healthy},
          {1, BadRequest, State::Healthy},
          {2, BadRequest, State::Healthy},
          {3, GoodRequest, State::Healthy},
          {4, BadRequest, State::Healthy},
          {5, BadRequest, State::Healthy}}},
        {"after the open time one trial request is let in, and success closes the breaker",
         {{0, GoodProbe, State::Healthy},
          {1, BadRequest, State::Healthy},
          {1, BadRequest, State::Healthy},
          {1, BadRequest, State::Ejected},
          {5.9, Nothing, State::Ejected},
          {6, Nothing, State::HalfOpen, true},
          {6.1, BeginTrial, State::HalfOpen, false},
          {6.2, GoodRequest, State::Healthy}}},
        {"an abandoned trial may be begun again",
         {{0, GoodProbe, State::Healthy},
          {1, BadRequest, State::Healthy},
          {1, BadRequest, State::Healthy},
          {1, BadRequest, State::Ejected},
          {6, BeginTrial, State::HalfOpen, false},
          {7, AbandonTrial, State::HalfOpen, true}}},
        {"a failed trial ejects for twice as long",
         {{0, GoodProbe, State::Healthy},
          {1, BadRequest, State::Healthy},
          {1, BadRequest, State::Healthy},
          {1, BadRequest, State::Ejected},
          {6, BeginTrial, State::HalfOpen, false},
          {7, BadRequest, State::Ejected},
          {16.9, Nothing, State::Ejected},
          {17, Nothing, State::HalfOpen, true}}},
        {"a good probe after the open time closes the breaker",
         {{0, GoodProbe, State::Healthy},
          {1, BadProbe, State::Healthy},
          {2, BadProbe, State::Healthy},
          {3, BadProbe, State::Ejected},
          {4, GoodProbe, State::Ejected},
          {8, GoodProbe, State::Healthy}}},
        {"while its last probe failed no trial is let in",
         {{0, GoodProbe, State::Healthy},
          {1, BadProbe, State::Healthy},
          {2, BadProbe, State::Healthy},
          {3, BadProbe, State::Ejected},
          {30, Nothing, State::Ejected},
          {31, GoodProbe, State::Healthy}}},
        {"failures of requests sent before the ejection do not prolong it",
         {{0, GoodProbe, State::Healthy},
          {1, BadRequest, State::Healthy},
          {1, BadRequest, State::Healthy},
          {1, BadRequest, State::Ejected},
          {5, BadRequest, State::Ejected},
          {6, Nothing, State::HalfOpen, true}}},
    };
    return all;
}

TEST(HealthTest, FollowsItsStateChart) {
    for (const Scenario& scenario : scenarios()) {
        Health health{config::Health{}};
        Health::Trial trial = Health::kNoTrial;
        for (const Step& step : scenario.steps) {
            apply(health, trial, step.event, at(step.at_seconds));
            EXPECT_EQ(to_string(health.state(at(step.at_seconds))), to_string(step.expected))
                << scenario.claim << ", at " << step.at_seconds << " s";
            EXPECT_EQ(health.wants_trial(at(step.at_seconds)), step.wants_trial)
                << scenario.claim << ", at " << step.at_seconds << " s";
            EXPECT_EQ(health.is_usable(at(step.at_seconds)), step.expected == State::Healthy);
        }
    }
}

TEST(HealthTest, OpenTimeDoublesUpToAMinuteAndAMinuteOfHealthForgetsIt) {
    Health health{config::Health{}};
    double now = 0;
    health.probe_succeeded(at(now));
    for (int i = 0; i < 3; ++i) {
        health.request_failed(at(now));
    }
    for (const double open : {5.0, 10.0, 20.0, 40.0, 60.0, 60.0}) {
        EXPECT_EQ(health.state(at(now + open - 0.1)), State::Ejected) << open;
        now += open;
        EXPECT_EQ(health.state(at(now)), State::HalfOpen) << open;
        health.begin_trial(at(now));
        health.request_failed(at(now));
    }
    now += 60;
    health.request_succeeded(at(now));
    now += 61;
    for (int i = 0; i < 3; ++i) {
        health.request_failed(at(now));
    }
    EXPECT_EQ(health.state(at(now + 5)), State::HalfOpen);
}

TEST(HealthTest, SeveralGoodProbesAreNeededWhenThePolicySaysSo) {
    config::Health policy;
    policy.successes = 3;
    Health health{policy};
    health.probe_succeeded(at(0));
    for (int i = 0; i < 3; ++i) {
        health.probe_failed(at(1));
    }
    health.probe_succeeded(at(7));
    health.probe_succeeded(at(8));
    EXPECT_EQ(health.state(at(8)), State::HalfOpen);
    health.probe_succeeded(at(9));
    EXPECT_EQ(health.state(at(9)), State::Healthy);
    EXPECT_EQ(health.returns(), 1U);
    EXPECT_EQ(health.last_outage(), std::chrono::seconds(8));
}

TEST(HealthTest, ATrialThatWasOvertakenAbandonsNoOther) {
    Health health{config::Health{}};
    for (int i = 0; i < 3; ++i) {
        health.request_failed(at(0));
    }
    const Health::Trial first = health.begin_trial(at(5));
    health.request_failed(at(6));
    const Health::Trial second = health.begin_trial(at(16));
    health.abandon_trial(first);
    EXPECT_FALSE(health.wants_trial(at(16)));
    health.abandon_trial(second);
    EXPECT_TRUE(health.wants_trial(at(16)));
}

TEST(HealthTest, RecentSuccessIsLessBadThanOldAndOldLessThanNone) {
    Health recent{config::Health{}};
    Health old{config::Health{}};
    const Health never{config::Health{}};
    old.request_succeeded(at(10));
    recent.request_succeeded(at(1000));
    EXPECT_TRUE(recent.is_less_bad_than(old));
    EXPECT_TRUE(old.is_less_bad_than(never));
    EXPECT_FALSE(old.is_less_bad_than(recent));
    EXPECT_FALSE(old.is_hardly_worse_than(recent));
    EXPECT_FALSE(never.is_hardly_worse_than(recent));
    EXPECT_TRUE(never.is_hardly_worse_than(never));
}

TEST(HealthTest, SuccessesOfAboutTheSameTimeAreEquallyGoodWheneverTheyWere) {
    for (double began = 7; began < 9; began += 0.125) {
        Health first{config::Health{}};
        Health second{config::Health{}};
        first.request_succeeded(at(began));
        second.request_succeeded(at(began + 0.5));
        EXPECT_TRUE(second.is_less_bad_than(first));
        EXPECT_TRUE(first.is_hardly_worse_than(second)) << began;
        second.request_succeeded(at(began + 8.5));
        EXPECT_FALSE(first.is_hardly_worse_than(second)) << began;
    }
}

}  // namespace
}  // namespace prefix_router::pool
