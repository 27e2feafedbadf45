// Engines that keep one prompt per slot (llama.cpp), behind the whole Router.

#include <gtest/gtest.h>

#include "unit/routing/router_fixture.hpp"

namespace prefix_router::routing {
namespace {

constexpr BackendSlot kFirst{0};
constexpr Tokens kTold = 60'000;

class SlotsTest : public RouterTest {
  protected:
    void tell_slots(std::uint32_t slots, BackendSlot backend = kFirst) {
        pool_.find(backend)->scraped.capacity = kTold;
        pool_.find(backend)->scraped.slots = slots;
        router_->backend_scraped(backend, now());
    }
    Tokens expected(Ticket& ticket) { return ticket.decision().expected_cached; }
    /// A whole request whose answer reports `cached` tokens.
    void serve_reporting(prompt::PromptKey key, Tokens cached) {
        Ticket& ticket = admit(std::move(key));
        advance(0.2);
        first_byte(ticket);
        advance(0.1);
        end_with_report(ticket, cached);
    }
};

TEST_F(SlotsTest, ABusySlotLendsItsPromptToNobody) {
    start(1, sent_at_once());
    tell_slots(2);
    serve(key(1, 10), 0.2);
    Ticket& first = admit(key(1, 11));
    EXPECT_EQ(expected(first), 10 * 512);
    Ticket& beside = admit(key(1, 11));
    EXPECT_EQ(expected(beside), 0);
    end(first);
    end(beside);
    EXPECT_EQ(expected(admit(key(1, 13))), 11 * 512);
}

TEST_F(SlotsTest, TheOtherBackendIsTakenWhileTheSlotWithThePromptIsBusy) {
    start(2, sent_at_once());
    tell_slots(1);
    tell_slots(1, BackendSlot(1));
    Ticket& busy = admit(key(1, 40));
    first_byte(busy);
    Ticket& beside = admit(key(1, 40));
    EXPECT_NE(beside.decision().backend, busy.decision().backend);
    EXPECT_EQ(expected(beside), 0);
}

TEST_F(SlotsTest, ANewPromptPushesOutTheOldestOfTheFleet) {
    start(2, sent_at_once());
    tell_slots(2);
    tell_slots(2, BackendSlot(1));
    std::vector<BackendSlot> homes;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        homes.push_back(serve(key(seed, 40), 4).decision().backend);
        advance(8);
    }
    for (std::uint64_t seed = 5; seed <= 8; ++seed) {
        EXPECT_EQ(serve(key(seed, 40), 4).decision().backend, homes[seed - 5]) << seed;
        advance(8);
    }
}

TEST_F(SlotsTest, AnAnswerStaysInItsSlot) {
    start(1, sent_at_once());
    tell_slots(1);
    auto prompt = key(1, 10);
    Ticket& ticket = admit(prompt);
    extend(prompt, 2, 4);
    Outcome outcome;
    outcome.answer_hashes = std::span(prompt.hashes).subspan(10);
    outcome.answer_ends = std::span(prompt.ends).subspan(10);
    router_->end(ticket, outcome, now());
    extend(prompt, 3, 1);
    EXPECT_EQ(expected(admit(prompt)), 14 * 512);
}

TEST_F(SlotsTest, ALongPromptIsHeldUntilASlotIsFree) {
    start(1);
    tell_slots(1);
    Ticket& running = admit(key(1, 40));
    advance(1);
    first_byte(running);
    Ticket& other = admit(key(2, 40));
    EXPECT_EQ(other.decision().action, Action::Wait) << "no prefill is before it, but no slot free";
    end(running);
    EXPECT_EQ(router_->take_released(), std::vector<Ticket*>{&other});
    EXPECT_EQ(other.decision().action, Action::Send);
}

TEST_F(SlotsTest, EveryEndFreesTheSlot) {
    start(1, sent_at_once());
    tell_slots(1);
    serve(key(1, 10), 0.2);
    for (const auto kind : {Outcome::Kind::Refused, Outcome::Kind::Failed}) {
        end(admit(key(2, 10)), kind);
        EXPECT_EQ(expected(admit(key(1, 11))), 10 * 512) << "the slot has what it had before";
        end(*tickets_.back(), kind);
    }
    end(admit(key(2, 10)), Outcome::Kind::ClientLeft);
    EXPECT_EQ(expected(admit(key(2, 11))), 10 * 512);
    end(*tickets_.back());
    end(admit({}));
    EXPECT_EQ(expected(admit(key(2, 12))), 0) << "a prompt without a key overwrote it";
    end(*tickets_.back());
    EXPECT_EQ(expected(admit(key(2, 13))), 12 * 512);
}

TEST_F(SlotsTest, ARetryLeavesTheSlotOfTheFirstChoiceAsItWas) {
    start(2, sent_at_once());
    tell_slots(1);
    tell_slots(1, BackendSlot(1));
    Ticket& ticket = admit(key(1, 10));
    const BackendSlot refuses = ticket.decision().backend;
    router_->retry(ticket, Outcome::Kind::Refused, now());
    EXPECT_NE(ticket.decision().backend, refuses);
    end(ticket);
    Ticket& next = admit(key(1, 11));
    EXPECT_EQ(next.decision().backend, ticket.decision().backend);
    EXPECT_EQ(expected(next), 10 * 512);
}

TEST_F(SlotsTest, PromptsFoundBesideTheSlotsAgainAndAgainMakeItAnLru) {
    start(1, sent_at_once());
    tell_slots(1);
    for (int i = 0; i < 5; ++i) {
        serve_reporting(key(1, 20), i > 0 ? 20 * 512 - 1 : 0);
        serve_reporting(key(2, 20), i > 0 ? 20 * 512 - 1 : 0);
    }
    EXPECT_GT(expected(admit(key(1, 21))), 19 * 512) << "host memory keeps what slots do not";
    EXPECT_EQ(router_->belief(kFirst, now()).capacity, 1'000'000);
}

TEST_F(SlotsTest, ADenialInBetweenKeepsTheSlots) {
    start(1, sent_at_once());
    tell_slots(1);
    for (int i = 0; i < 10; ++i) {
        serve_reporting(key(1, 20), 20 * 512 - 1);
        serve_reporting(key(1, 20), 0);
        serve_reporting(key(2, 20), 0);
    }
    EXPECT_EQ(expected(admit(key(1, 20))), 0);
    EXPECT_EQ(router_->belief(kFirst, now()).capacity, kTold);
}

TEST_F(SlotsTest, ARestartedServerHasEmptySlots) {
    start(1, sent_at_once());
    tell_slots(2);
    serve(key(1, 10), 0.2);
    eject(kFirst);
    advance(61);
    pool_.find(kFirst)->health.probe_succeeded(now());
    EXPECT_EQ(expected(admit(key(1, 10))), 0);
}

TEST_F(SlotsTest, OtherStrategiesExpectTheSameOfIt) {
    start(1, options(config::Strategy::LeastOutstandingRequests));
    tell_slots(1);
    serve(key(1, 10), 0.2);
    serve(key(2, 10), 0.2);
    EXPECT_EQ(expected(admit(key(1, 10))), 0);
}

}  // namespace
}  // namespace prefix_router::routing
