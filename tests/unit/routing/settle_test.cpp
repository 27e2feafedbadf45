// What the end of a request, or its failure, leaves behind in the beliefs.

#include <functional>
#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "unit/routing/router_fixture.hpp"

namespace prefix_router::routing {
namespace {

constexpr BackendSlot kFirst{0};
constexpr BackendSlot kSecond{1};

class SettleTest : public RouterTest {
  protected:
    Ticket& admit_ask(Ask ask) {
        tickets_.push_back(std::make_unique<Ticket>(std::move(ask)));
        router_->admit(*tickets_.back(), now());
        return *tickets_.back();
    }

    /// Ten streamed requests, each alone, whose reports say eight times what their keys say.
    void serve_ten(const std::function<void(Ask&)>& change) {
        for (int i = 0; i < 10; ++i) {
            Ask ask;
            ask.key = key(3, 20);
            ask.key.is_tokens = false;
            ask.streams = true;
            change(ask);
            Ticket& ticket = admit_ask(std::move(ask));
            advance(3);
            first_byte(ticket);
            Outcome outcome;
            outcome.reported_prompt = 8 * ticket.decision().prompt_tokens;
            outcome.reported_cached = 0;
            router_->end(ticket, outcome, now());
            advance(1);
        }
    }

    void expect_nothing_learned() {
        const BackendBelief belief = router_->belief(kFirst, now());
        EXPECT_EQ(router_->bytes_per_token(kUnknownModel), 4.0);
        EXPECT_NEAR(belief.prefill_tokens_per_s, 5000, 1);
        EXPECT_EQ(belief.capacity, 1'000'000);
        EXPECT_EQ(belief.resident, 20 * 128);
    }

    void deny(std::uint64_t seed) {
        Ticket& ticket = admit(key(seed, 10));
        first_byte(ticket);
        end_with_report(ticket, 0);
    }
    void confirm(std::uint64_t seed) {
        Ticket& ticket = admit(key(seed, 10));
        first_byte(ticket);
        end_with_report(ticket, 9 * 512);
    }
    Tokens capacity() { return router_->belief(kFirst, now()).capacity; }
};

TEST_F(SettleTest, ABatchTeachesNothingThatItsFirstPromptAloneSays) {
    start(1, sent_at_once());
    serve_ten([](Ask& ask) { ask.sequences = 8; });
    expect_nothing_learned();
}

TEST_F(SettleTest, ARequestWhoseHistoryTheEngineHoldsTeachesNothing) {
    start(1, sent_at_once());
    serve_ten([](Ask& ask) { ask.key.lacks_history = true; });
    expect_nothing_learned();
}

TEST_F(SettleTest, ARequestThatGoesAroundTheCacheTellsNothingOfIt) {
    start(1, sent_at_once());
    serve_ten([](Ask& ask) { ask.key.goes_around_cache = true; });
    const BackendBelief belief = router_->belief(kFirst, now());
    EXPECT_EQ(belief.capacity, 1'000'000);
    EXPECT_GT(belief.resident, 0);
    EXPECT_NE(router_->bytes_per_token(kUnknownModel), 4.0) << "its prompt is counted as any other";
}

TEST_F(SettleTest, AFailureKeepsWhatAnotherRequestHasComputedMeanwhile) {
    start(1, sent_at_once());
    Ticket& fails = admit(key(1, 10));
    Ticket& succeeds = admit(key(1, 10));
    first_byte(succeeds);
    end(succeeds);
    end(fails, Outcome::Kind::Refused);
    EXPECT_EQ(map_.resident(kFirst), 10 * 512);
}

TEST_F(SettleTest, WhenAllWhoShareAPrefixFailNothingOfItStays) {
    for (const bool in_order : {true, false}) {
        start(1, sent_at_once());
        Ticket& first = admit(key(1, 10));
        Ticket& second = admit(key(1, 10));
        end(in_order ? first : second, Outcome::Kind::Refused);
        end(in_order ? second : first, Outcome::Kind::Refused);
        EXPECT_EQ(map_.resident(kFirst), 0) << in_order;
        pool_.remove(kFirst);
        map_.remove_backend(kFirst);
        tickets_.clear();
    }
}

TEST_F(SettleTest, WhatWasForgottenAndIsRefusedStaysForgotten) {
    Router::Options options = sent_at_once();
    options.initial_capacity = 10 * 512;
    options.learn_capacity = false;
    start(1, options);
    serve(key(1, 10), 0.2);
    serve(key(2, 10), 0.2);  // the first is a ghost now
    end(admit(key(1, 10)), Outcome::Kind::Refused);
    Ticket& again = admit(key(1, 10));
    EXPECT_EQ(again.decision().expected_cached, 0);
}

TEST_F(SettleTest, OneRequestOfManySequencesDoesNotFillItsHome) {
    Router::Options options = RouterTest::options(config::Strategy::PrefixAware);
    options.routing.concurrency_threshold = 3;
    start(4, options);
    for (int i = 0; i < 3; ++i) {
        Ask ask;
        ask.key = key(1, 4);
        ask.sequences = 16;
        EXPECT_EQ(admit_ask(std::move(ask)).decision().reason, Reason::Home);
    }
    EXPECT_EQ(admit(key(1, 4)).decision().reason, Reason::HomeFull);
}

TEST_F(SettleTest, ATrialThatEndsLateLeavesTheNextOneAlone) {
    start(2, sent_at_once());
    eject(kSecond);
    advance(6);
    Ticket& late = admit({});
    ASSERT_EQ(late.decision().reason, Reason::Trial);
    pool_.find(kSecond)->health.request_failed(now());
    advance(11);
    Ticket& next = admit({});
    ASSERT_EQ(next.decision().reason, Reason::Trial);
    end(late, Outcome::Kind::ClientLeft);
    EXPECT_NE(admit({}).decision().reason, Reason::Trial);
    end(next, Outcome::Kind::ClientLeft);
    EXPECT_EQ(admit({}).decision().reason, Reason::Trial);
}

TEST_F(SettleTest, InPanicAllThatSucceededAboutTheSameTimeAgoShareTheLoad) {
    start(0, sent_at_once());
    for (const double began : {999.9, 1000.1, 980.0}) {
        seconds_ = began;
        add_backend("b" + std::to_string(began));
    }
    seconds_ = 1001;
    for (const BackendSlot slot : pool_.slots()) {
        eject(slot);
    }
    for (std::uint64_t i = 1; i <= 4; ++i) {
        EXPECT_EQ(admit(key(i, 20)).decision().reason, Reason::Panic);
    }
    EXPECT_EQ(in_flight(kFirst), 2U);
    EXPECT_EQ(in_flight(kSecond), 2U);
}

TEST_F(SettleTest, AFlushedCacheIsNoSmallerOne) {
    start(1, sent_at_once());
    for (std::uint64_t i = 1; i <= 6; ++i) {
        serve(key(i, 10), 0.2);
    }
    confirm(1);
    for (std::uint64_t i = 2; i <= 4; ++i) {
        deny(i);
    }
    EXPECT_EQ(map_.resident(kFirst), 10 * 512) << "dropped but for the last";
    EXPECT_EQ(capacity(), 1'000'000);
}

TEST_F(SettleTest, ACacheThatNeverHasAnythingIsSmaller) {
    start(1, sent_at_once());
    for (std::uint64_t i = 1; i <= 12; ++i) {
        serve(key(i, 10), 0.2);
        deny(i);
    }
    EXPECT_LT(capacity(), 200'000);
}

TEST_F(SettleTest, DenialsLowerAScrapedCapacityToHalfAtMost) {
    start(1, sent_at_once());
    pool_.find(kFirst)->scraped.capacity = 100'000;
    router_->backend_scraped(kFirst, now());
    for (std::uint64_t i = 1; i <= 40; ++i) {
        serve(key(i, 10), 0.2);
        deny(i);
    }
    EXPECT_GE(capacity(), 50'000);
    EXPECT_LT(capacity(), 100'000);
}

TEST_F(SettleTest, RefusedRequestsAreNoLoad) {
    Router::Options options = sent_at_once();
    options.kept_decisions = 1;
    start(1, options);
    for (std::uint64_t i = 1; i <= 50; ++i) {
        Ticket& ticket = admit(key(i, 40));
        advance(0.1);
        end(ticket, i % 2 == 0 ? Outcome::Kind::Refused : Outcome::Kind::Failed);
    }
    EXPECT_NEAR(router_->belief(kFirst, now()).work, 0, 1e-9);
    admit(key(99, 40));
    EXPECT_NEAR(router_->explained(1).front().candidates.front().externality, 0, 1e-9);
}

TEST_F(SettleTest, ARetriedRequestIsWorkOnlyWhereItWent) {
    start(2, sent_at_once());
    Ticket& ticket = admit(key(1, 40));
    const BackendSlot refuser = ticket.decision().backend;
    advance(0.1);
    router_->retry(ticket, Outcome::Kind::Refused, now());
    EXPECT_NEAR(router_->belief(refuser, now()).work, 0, 1e-9);
    EXPECT_GT(router_->belief(ticket.decision().backend, now()).work, 0);
}

TEST_F(SettleTest, WorkThatWasDoneBeforeAFailureStays) {
    start(1, sent_at_once());
    Ticket& ticket = admit(key(1, 40));
    advance(0.1);
    first_byte(ticket);
    end(ticket, Outcome::Kind::Failed);
    EXPECT_GT(router_->belief(kFirst, now()).work, 0);
}

TEST_F(SettleTest, AReportIsHeldAgainstTheDistancesOfItsOwnBackend) {
    Router::Options options = sent_at_once();
    options.initial_capacity = 6'000;
    start(2, options);
    pool_.find(kSecond)->draining = true;
    serve(key(1, 8), 0.2);
    confirm(2);  // the first reports
    serve(key(3, 8), 0.2);
    serve(key(4, 8), 0.2);
    Ticket& ticket = admit(key(1, 8));  // touched long ago there
    pool_.find(kSecond)->draining = false;
    router_->retry(ticket, Outcome::Kind::Refused, now());
    ASSERT_EQ(ticket.decision().backend, kSecond);
    const Tokens before = router_->belief(kSecond, now()).capacity;
    first_byte(ticket);
    end_with_report(ticket, 8 * 512 - 1);
    EXPECT_EQ(router_->belief(kSecond, now()).capacity, before);
}

TEST_F(SettleTest, ABackendThatIsGoneIsNamedByNoDecision) {
    Router::Options options = sent_at_once();
    options.kept_decisions = 4;
    start(2, options);
    for (std::uint64_t i = 1; i <= 4; ++i) {
        end(admit(key(i, 20)));
    }
    router_->backend_removed(kFirst);
    pool_.remove(kFirst);
    const auto all = router_->explained(10);
    EXPECT_FALSE(all.empty());
    for (const ExplainedDecision& each : all) {
        EXPECT_NE(each.decision.backend, kFirst);
        ASSERT_EQ(each.candidates.size(), 1U);
        EXPECT_EQ(each.candidates.front().backend, kSecond);
    }
}

TEST_F(SettleTest, ANewcomerTakesItsTurnLikeAnyOther) {
    start(0, RouterTest::options(config::Strategy::RoundRobin));
    config::Backend heavy;
    heavy.id = "heavy";
    heavy.weight = 10;
    const BackendSlot place = add_backend(heavy);
    add_backend("b1");
    add_backend("b2");
    for (int i = 0; i < 4; ++i) {
        ASSERT_EQ(admit({}).decision().backend, place);
        end(*tickets_.back());
    }
    router_->backend_removed(place);
    pool_.remove(place);
    ASSERT_EQ(add_backend("newcomer"), place);
    int turns = 0;
    for (int i = 0; i < 6; ++i) {
        turns += admit({}).decision().backend == place ? 1 : 0;
    }
    EXPECT_GE(turns, 1) << "its place owes nothing";
}

}  // namespace
}  // namespace prefix_router::routing
