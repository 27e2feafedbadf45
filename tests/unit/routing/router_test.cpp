#include "prefix_router/routing/router.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "unit/routing/router_fixture.hpp"

namespace prefix_router::routing {
namespace {

TEST_F(RouterTest, WithoutBackendsARequestIsRefused) {
    start(0);
    Ticket& ticket = admit(key(1, 4));
    EXPECT_EQ(ticket.decision().action, Action::Refuse);
    end(ticket);
}

TEST_F(RouterTest, AConversationStaysWhereItsPrefixIs) {
    start(4, sent_at_once());
    auto turn = key(1, 20);
    const BackendSlot home = serve(turn, 0.5).decision().backend;
    for (std::uint64_t i = 0; i < 5; ++i) {
        advance(20);
        extend(turn, 100 + i, 2);
        const Decision decision = serve(turn, 0.1).decision();
        EXPECT_EQ(decision.backend, home);
        EXPECT_EQ(decision.reason, Reason::Warm);
        EXPECT_EQ(decision.expected_cached, static_cast<Tokens>((turn.size() - 2) * 512));
    }
}

TEST_F(RouterTest, ABurstWithOneNewPrefixGoesToOneBackendUntilItsWaitSaysOtherwise) {
    start(4, sent_at_once());
    const auto where = [&](std::uint64_t i) {
        auto prompt = key(1, 40);
        extend(prompt, 10 + i, 1);
        return admit(prompt).decision().backend;
    };
    const BackendSlot first = where(0);
    for (std::uint64_t i = 1; i < 10; ++i) {
        advance(0.2);
        EXPECT_EQ(where(i), first);
    }
    std::uint32_t elsewhere = 0;
    for (std::uint64_t i = 10; i < 60; ++i) {
        elsewhere += where(i) != first ? 1U : 0U;
    }
    EXPECT_GT(elsewhere, 10U);
}

TEST_F(RouterTest, ColdRequestsSpread) {
    start(4, sent_at_once());
    for (std::uint64_t i = 0; i < 8; ++i) {
        admit(key(i + 1, 20));
    }
    for (const BackendSlot slot : pool_.slots()) {
        EXPECT_EQ(in_flight(slot), 2U);
    }
}

TEST_F(RouterTest, TwoRoutersSendAColdPromptToTheSameHome) {
    start(8, sent_at_once());
    pool::Pool other_pool{config::Health{}};
    prefix::PrefixMap other_map{prefix::PrefixMap::Options{}};
    Router other(sent_at_once(), other_pool, other_map, Random(99));
    for (int i = 7; i >= 0; --i) {
        config::Backend spec;
        spec.id = "b" + std::to_string(i);
        const BackendSlot slot = other_pool.add(spec).value();
        other_pool.find(slot)->health.probe_succeeded(now());
        other.backend_added(slot, now());
    }
    for (std::uint64_t i = 0; i < 20; ++i) {
        Ticket& here = admit(key(i + 1, 20));
        Ask ask;
        ask.key = key(i + 1, 20);
        Ticket there(std::move(ask));
        other.admit(there, now());
        EXPECT_EQ(pool_.find(here.decision().backend)->spec.id,
                  other_pool.find(there.decision().backend)->spec.id);
        end(here);
        other.end(there, Outcome{}, now());
        advance(100);
    }
}

TEST_F(RouterTest, AFailedDispatchLeavesNoTraceAndTheNextBackendIsTaken) {
    start(2, sent_at_once());
    Ticket& ticket = admit(key(1, 20));
    const BackendSlot first = ticket.decision().backend;
    router_->retry(ticket, Outcome::Kind::Failed, now());
    EXPECT_EQ(ticket.decision().action, Action::Send);
    EXPECT_NE(ticket.decision().backend, first);
    EXPECT_EQ(ticket.decision().reason, Reason::Retried);
    EXPECT_EQ(in_flight(first), 0U);
    EXPECT_EQ(in_flight(ticket.decision().backend), 1U);
    EXPECT_EQ(map_.resident(first), 0);
    EXPECT_EQ(router_->belief(first, now()).backlog, 0);
    router_->retry(ticket, Outcome::Kind::Refused, now());
    EXPECT_EQ(ticket.decision().action, Action::Refuse);
    end(ticket, Outcome::Kind::Failed);
    EXPECT_EQ(map_.entries(), 0U);
}

TEST_F(RouterTest, AFailureKeepsThePartThatWasThereBefore) {
    start(1, sent_at_once());
    serve(key(1, 10), 0.2);
    auto longer = key(1, 10);
    extend(longer, 5, 10);
    Ticket& ticket = admit(longer);
    end(ticket, Outcome::Kind::Failed);
    EXPECT_EQ(map_.resident(BackendSlot(0)), 10 * 512);
}

TEST_F(RouterTest, AFailureKeepsWhatAnotherRequestInFlightShares) {
    start(1, sent_at_once());
    Ticket& fails = admit(key(1, 10));
    Ticket& goes_on = admit(key(1, 10));
    end(fails, Outcome::Kind::Failed);
    EXPECT_EQ(map_.resident(BackendSlot(0)), 10 * 512);
    end(goes_on);
}

TEST_F(RouterTest, AClientThatLeftKeepsWhatWasComputed) {
    start(1, sent_at_once());
    end(admit(key(1, 10)), Outcome::Kind::ClientLeft);
    EXPECT_EQ(map_.resident(BackendSlot(0)), 10 * 512);
    EXPECT_EQ(map_.pinned(BackendSlot(0)), 0);
}

TEST_F(RouterTest, AnswersExtendThePrefix) {
    start(2, sent_at_once());
    auto prompt = key(1, 10);
    Ticket& ticket = admit(prompt);
    auto next = prompt;
    extend(next, 2, 4);
    Outcome outcome;
    outcome.answer_hashes = std::span(next.hashes).subspan(10);
    outcome.answer_ends = std::span(next.ends).subspan(10);
    first_byte(ticket);
    router_->end(ticket, outcome, now());
    extend(next, 3, 1);
    EXPECT_EQ(admit(next).decision().expected_cached, 14 * 512);
}

TEST_F(RouterTest, AnAnswerThatNoPromptRepeatsTakesMemoryToo) {
    Router::Options options = sent_at_once();
    options.initial_capacity = 30 * 512;
    start(1, options);
    serve(key(1, 10), 0.2);
    Ticket& ticket = admit(key(2, 10));
    first_byte(ticket);
    Outcome outcome;
    outcome.reported_output = 15 * 512;
    router_->end(ticket, outcome, now());
    EXPECT_EQ(admit(key(1, 11)).decision().expected_cached, 5 * 512);
}

TEST_F(RouterTest, AnAnswerThatIsAppendedIsCountedOnce) {
    Router::Options options = sent_at_once();
    options.initial_capacity = 30 * 512;
    start(1, options);
    serve(key(1, 11), 0.2);
    auto prompt = key(2, 10);
    Ticket& ticket = admit(prompt);
    extend(prompt, 3, 9);
    Outcome outcome;
    outcome.reported_output = 9 * 512;
    outcome.answer_hashes = std::span(prompt.hashes).subspan(10);
    outcome.answer_ends = std::span(prompt.ends).subspan(10);
    first_byte(ticket);
    router_->end(ticket, outcome, now());
    EXPECT_EQ(admit(key(1, 12)).decision().expected_cached, 11 * 512);
}

TEST_F(RouterTest, AWedgedBackendIsLeftWithinSeconds) {
    start(2, sent_at_once());
    const BackendSlot wedged = serve(key(1, 40), 1).decision().backend;
    auto warm = key(1, 40);
    int still_there = 0;
    for (int second = 0; second < 10; ++second) {
        extend(warm, static_cast<std::uint64_t>(second), 1);
        const Ticket& ticket = admit(warm);
        still_there += ticket.decision().backend == wedged ? 1 : 0;
        advance(1);
    }
    EXPECT_LE(still_there, 7);
    EXPECT_GE(still_there, 1);
}

TEST_F(RouterTest, AWedgedBackendIsLeftEvenWhenAnswersDoNotStream) {
    start(2, sent_at_once());
    Ticket& silent = admit(key(1, 20), false);
    const BackendSlot wedged = silent.decision().backend;
    advance(60);
    EXPECT_GT(router_->belief(wedged, now()).backlog, 5);
    EXPECT_NE(admit(key(1, 20)).decision().backend, wedged);
}

TEST_F(RouterTest, LoadThatComesFromElsewhereIsAvoided) {
    start(2, sent_at_once());
    serve(key(1, 40), 1);
    const BackendSlot home = tickets_.back()->decision().backend;
    for (int i = 0; i < 3; ++i) {
        scrape(home, 0, 0);  // the served request is no longer believed to be reported
    }
    scrape(home, 0, 20);
    EXPECT_EQ(router_->belief(home, now()).foreign, 20);
    EXPECT_NE(admit(key(1, 40)).decision().backend, home) << "20 wait there, each for seconds";
    scrape(home, 20, 0);
    Ticket& warm = admit(key(1, 40));
    EXPECT_EQ(warm.decision().backend, home) << "20 that decode are in nobody's way";
    scrape(home, 21, 0);
    EXPECT_EQ(router_->belief(home, now()).foreign, 20) << "one of the 21 is ours";
}

TEST_F(RouterTest, OneTrialRequestGoesToABackendWhoseOpenTimeIsOver) {
    start(2, sent_at_once());
    eject(BackendSlot(1));
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(admit({}).decision().backend, BackendSlot(0));
    }
    advance(6);
    Ticket& trial = admit({});
    EXPECT_EQ(trial.decision().backend, BackendSlot(1));
    EXPECT_EQ(trial.decision().reason, Reason::Trial);
    EXPECT_EQ(admit({}).decision().backend, BackendSlot(0));
    end(trial, Outcome::Kind::ClientLeft);
    EXPECT_EQ(admit({}).decision().reason, Reason::Trial);
}

TEST_F(RouterTest, WhenAllAreEjectedRequestsStillGoSomewhere) {
    start(2, sent_at_once());
    eject(BackendSlot(0));
    eject(BackendSlot(1));
    Ticket& ticket = admit(key(1, 4));
    EXPECT_EQ(ticket.decision().reason, Reason::Panic);
    router_->retry(ticket, Outcome::Kind::Failed, now());
    EXPECT_EQ(ticket.decision().action, Action::Send);
}

TEST_F(RouterTest, ABackendBackAfterAShortOutageKeepsItsMapWithHalfTheCapacity) {
    start(1, sent_at_once());
    serve(key(1, 10), 0.2);
    eject(BackendSlot(0));
    advance(6);
    pool_.find(BackendSlot(0))->health.probe_succeeded(now());
    Ticket& ticket = admit(key(1, 10));
    EXPECT_EQ(ticket.decision().expected_cached, 10 * 512 - 1);
    EXPECT_EQ(router_->belief(BackendSlot(0), now()).capacity, 500'000);
    first_byte(ticket);
    end_with_report(ticket, 9 * 512);
    EXPECT_EQ(router_->belief(BackendSlot(0), now()).capacity, 1'000'000);
}

TEST_F(RouterTest, WhatRunningRequestsHoldIsTheLeastThatACapacityIsBelieved) {
    Router::Options options = sent_at_once();
    options.initial_capacity = 6'000;
    start(1, options);
    Ticket& running = admit(key(1, 20));
    Ticket& waiting = admit(key(2, 40));
    advance(1);
    first_byte(running);
    EXPECT_EQ(router_->belief(BackendSlot(0), now()).capacity, 20 * 512) << "the other may wait";
    first_byte(waiting);
    EXPECT_EQ(router_->belief(BackendSlot(0), now()).capacity, 60 * 512);
    end(running);
    end(waiting);
}

TEST_F(RouterTest, ABackendBackAfterALongOutageStartsEmpty) {
    start(1, sent_at_once());
    serve(key(1, 10), 0.2);
    eject(BackendSlot(0));
    advance(61);
    pool_.find(BackendSlot(0))->health.probe_succeeded(now());
    EXPECT_EQ(admit(key(1, 10)).decision().expected_cached, 0);
}

TEST_F(RouterTest, ThreeDeniedHitsDropTheMapOfARestartedBackend) {
    start(1, sent_at_once());
    for (std::uint64_t i = 1; i <= 5; ++i) {
        serve(key(i, 10), 0.2);
    }
    Ticket& hit = admit(key(5, 10));
    first_byte(hit);
    end_with_report(hit, 9 * 512);
    for (std::uint64_t i = 1; i <= 3; ++i) {
        Ticket& ticket = admit(key(i, 10));
        first_byte(ticket);
        end_with_report(ticket, 0);
    }
    EXPECT_EQ(map_.resident(BackendSlot(0)), 10 * 512);  // the last one is there now
}

TEST_F(RouterTest, ExpectedCachedIsInWholeBlocksOfTheEngine) {
    start(1, sent_at_once());
    serve(key(1, 10), 0.2);
    for (const Tokens cached : {4992, 4992, 4864, 4992}) {  // multiples of 128
        Ticket& ticket = admit(key(1, 10));
        first_byte(ticket);
        end_with_report(ticket, cached);
    }
    EXPECT_EQ(admit(key(1, 10)).decision().expected_cached, 4992);
}

TEST_F(RouterTest, DecisionsAreExplainedNewestFirst) {
    auto with_log = sent_at_once();
    with_log.kept_decisions = 3;
    start(40, with_log);
    for (std::uint64_t i = 1; i <= 5; ++i) {
        Ask ask;
        ask.key = key(i, 8);
        ask.id = i;
        tickets_.push_back(std::make_unique<Ticket>(std::move(ask)));
        router_->admit(*tickets_.back(), now());
    }
    const auto all = router_->explained(10);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0].request, 5U);
    EXPECT_EQ(all[2].request, 3U);
    EXPECT_EQ(all[0].candidates.size(), 32U);
    EXPECT_EQ(all[0].candidates.front().backend, all[0].decision.backend);
    EXPECT_GT(all[0].candidates.front().own, 0);
    EXPECT_EQ(router_->explained(1).size(), 1U);
}

}  // namespace
}  // namespace prefix_router::routing
