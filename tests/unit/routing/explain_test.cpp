#include <array>
#include <chrono>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "prefix_router/routing/router.hpp"

#include "unit/routing/router_fixture.hpp"

namespace prefix_router::routing {
namespace {

constexpr std::array kStrategies{config::Strategy::Adaptive, config::Strategy::PrefixAware,
                                 config::Strategy::LeastOutstandingRequests,
                                 config::Strategy::RoundRobin, config::Strategy::Random};

class Explain : public RouterTest {
  protected:
    ExplainedDecision explain(prompt::PromptKey key) {
        Ask ask;
        ask.key = std::move(key);
        ask.streams = true;
        return router_->explain(std::move(ask), now());
    }
};

class ExplainEach : public Explain, public ::testing::WithParamInterface<config::Strategy> {};

TEST_P(ExplainEach, SaysWhatThenHappens) {
    start(4, options(GetParam()));
    for (std::uint64_t i = 0; i < 30; ++i) {
        advance(0.3);
        const auto prompt = key(i % 7 + 1, 10 + i % 5);
        explain(key(100 + i, 3));
        explain(prompt);
        const Decision told = explain(prompt).decision;
        const Decision happened = admit(prompt).decision();
        ASSERT_EQ(told.action, happened.action) << i;
        ASSERT_EQ(told.backend, happened.backend) << i;
        ASSERT_EQ(told.reason, happened.reason) << i;
        ASSERT_EQ(told.expected_cached, happened.expected_cached) << i;
        ASSERT_EQ(told.expected_wait, happened.expected_wait) << i;
        if (i % 3 == 0) {
            first_byte(*tickets_.back());
        }
    }
    for (const auto& ticket : tickets_) {
        end(*ticket);
    }
}

TEST_P(ExplainEach, ChangesNoLaterDecision) {
    std::array<std::vector<BackendSlot>, 2> decided;
    for (const bool asks : {false, true}) {
        pool_ = pool::Pool(config::Health{});
        prefix::PrefixMap fresh{prefix::PrefixMap::Options{}};
        Router router(options(GetParam()), pool_, fresh, Random(7));
        for (const char* id : {"a", "b", "c"}) {
            config::Backend spec;
            spec.id = id;
            const BackendSlot slot = pool_.add(spec).value();
            pool_.find(slot)->health.probe_succeeded(now());
            router.backend_added(slot, now());
        }
        for (std::uint64_t i = 0; i < 40; ++i) {
            const TimePoint at = now() + std::chrono::milliseconds(100 * i);
            if (asks) {
                Ask ask;
                ask.key = key(i * 13 % 11 + 1, 12);
                router.explain(std::move(ask), at);
            }
            Ask ask;
            ask.key = key(i % 5 + 1, 8 + i % 3);
            ask.streams = true;
            Ticket ticket(std::move(ask));
            decided[asks ? 1 : 0].push_back(router.admit(ticket, at).backend);
            router.first_byte(ticket, at + std::chrono::milliseconds(40));
            router.end(ticket, {}, at + std::chrono::milliseconds(60));
        }
    }
    EXPECT_EQ(decided[0], decided[1]);
}

INSTANTIATE_TEST_SUITE_P(Strategies, ExplainEach, ::testing::ValuesIn(kStrategies));

TEST_F(Explain, GivesEveryCandidatesTermsTheChosenOneFirst) {
    start(3, sent_at_once());
    const auto prompt = key(1, 20);
    const BackendSlot home = serve(prompt, 0.5).decision().backend;
    const ExplainedDecision told = explain(prompt);
    ASSERT_EQ(told.candidates.size(), 3U);
    EXPECT_EQ(told.candidates.front().backend, home);
    EXPECT_EQ(told.candidates.front().match, 20 * 512);
    EXPECT_EQ(told.candidates.back().match, 0);
    EXPECT_EQ(told.key_blocks, 20U);
}

TEST_F(Explain, ReservesNothingAndRemembersNothing) {
    Router::Options kept = sent_at_once();
    kept.kept_decisions = 8;
    start(2, kept);
    explain(key(1, 20));
    for (const BackendSlot slot : pool_.slots()) {
        EXPECT_EQ(in_flight(slot), 0U);
        EXPECT_EQ(router_->belief(slot, now()).resident, 0);
        EXPECT_EQ(router_->belief(slot, now()).work, 0);
    }
    EXPECT_TRUE(router_->explained(8).empty());
    EXPECT_EQ(explain(key(1, 20)).decision.expected_cached, 0);
}

TEST_F(Explain, SaysThatARequestWouldWaitOrBeRefused) {
    Router::Options limited = sent_at_once();
    limited.max_in_flight = 1;
    limited.queue.max_requests = 1;
    start(1, limited);
    Ticket& sent = admit(key(1, 4));
    EXPECT_EQ(explain(key(2, 4)).decision.action, Action::Wait);
    EXPECT_EQ(router_->held(), 0U);
    Ticket& waits = admit(key(3, 4));
    const ExplainedDecision refused = explain(key(2, 4));
    EXPECT_EQ(refused.decision.action, Action::Refuse);
    EXPECT_EQ(refused.decision.refusal, Refusal::QueueFull);
    EXPECT_EQ(router_->held(), 1U);
    end(sent);
    end(waits);
}

TEST_F(Explain, DisplacesNobody) {
    Router::Options limited = sent_at_once();
    limited.max_in_flight = 1;
    limited.queue.max_requests = 1;
    start(1, limited);
    Ticket& sent = admit(key(1, 4));
    Ticket& waits = admit(key(3, 4));
    Ask ask;
    ask.key = key(2, 4);
    ask.priority = config::Priority::High;
    EXPECT_EQ(router_->explain(std::move(ask), now()).decision.action, Action::Wait);
    EXPECT_EQ(waits.decision().action, Action::Wait);
    EXPECT_TRUE(router_->take_released().empty());
    end(sent);
    end(waits);
}

TEST_F(Explain, BeginsNoTrialOfAnEjectedBackend) {
    start(1, sent_at_once());
    const BackendSlot slot = pool_.slots().front();
    eject(slot);
    advance(30);
    EXPECT_EQ(explain(key(1, 4)).decision.reason, Reason::Trial);
    EXPECT_TRUE(pool_.find(slot)->health.wants_trial(now()));
}

}  // namespace
}  // namespace prefix_router::routing
