#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/routing/router_fixture.hpp"

namespace prefix_router::routing {
namespace {

/// One backend, 0.2 s per 1,000 tokens at first: a prompt of 20 blocks of 512 takes 2.07 s.
class HoldTest : public RouterTest {
  protected:
    static Router::Options held(double age = 0.1) {
        Router::Options options;
        options.routing.hold_age = age;
        return options;
    }
    void start_with_lanes(std::size_t backends, Router::Options options) {
        router_ = std::make_unique<Router>(std::move(options), pool_, map_, Random(7));
        for (std::size_t i = 0; i < backends; ++i) {
            config::Backend spec;
            spec.id = "b" + std::to_string(i);
            spec.lanes = 1;
            add_backend(spec);
        }
    }
    Action action(const Ticket& ticket) { return ticket.decision().action; }
};

TEST_F(HoldTest, ALongRequestWaitsWhileItsBackendIsBusy) {
    start_with_lanes(1, held());
    Ticket& first = admit(key(1, 20));
    Ticket& second = admit(key(2, 20));
    EXPECT_EQ(action(first), Action::Send);
    EXPECT_EQ(action(second), Action::Wait);
    EXPECT_EQ(router_->held(), 1U);
    EXPECT_EQ(in_flight(BackendSlot(0)), 1U);
    advance(2);
    first_byte(first);
    EXPECT_THAT(router_->take_released(), testing::ElementsAre(&second));
    EXPECT_EQ(action(second), Action::Send);
    EXPECT_EQ(second.held(), std::chrono::seconds(2));
    EXPECT_EQ(in_flight(BackendSlot(0)), 2U);
}

TEST_F(HoldTest, AShortRequestIsNeverHeld) {
    start_with_lanes(1, held());
    admit(key(1, 200));
    EXPECT_EQ(action(admit(key(2, 7))), Action::Send);  // 0.74 s of its own
    EXPECT_EQ(action(admit({})), Action::Send);
}

TEST_F(HoldTest, AutomaticallyAnEngineGetsEnoughForOneOfItsSteps) {
    for (const bool is_auto : {true, false}) {
        Router::Options options = held();
        options.routing.hold = std::chrono::milliseconds(is_auto ? 0 : 300);
        start_with_lanes(1, options);
        for (std::uint64_t i = 0; i < 20; ++i) {
            serve(key(100 + i, 20), 1.28);  // 8,000 tokens/s
        }
        Ticket& running = admit(key(1, 20));
        Ticket& waiting = admit(key(2, 20));
        advance(0.5);  // 0.78 s of the first are left
        router_->tick(now());
        EXPECT_EQ(action(waiting), Action::Wait);
        pool_.find(BackendSlot(0))->scraped.step = 4'096;
        router_->tick(now() + std::chrono::milliseconds(60));
        EXPECT_EQ(action(waiting), Action::Wait);
        pool_.find(BackendSlot(0))->scraped.step = 8'192;
        router_->tick(now() + std::chrono::milliseconds(120));
        EXPECT_EQ(action(waiting), is_auto ? Action::Send : Action::Wait);
        end(running);
        end(waiting);
        router_->backend_removed(BackendSlot(0));
        pool_.remove(BackendSlot(0));
    }
}

TEST_F(HoldTest, NothingIsHeldWhileABackendIsIdle) {
    start_with_lanes(4, held());
    for (std::uint64_t i = 1; i <= 4; ++i) {
        EXPECT_EQ(action(admit(key(i, 40))), Action::Send);
    }
    EXPECT_EQ(action(admit(key(5, 40))), Action::Wait);
}

TEST_F(HoldTest, TheShortestGoesFirst) {
    start_with_lanes(1, held());
    Ticket& running = admit(key(1, 20));
    Ticket& longest = admit(key(2, 60));
    Ticket& shorter = admit(key(3, 12));
    advance(2);
    first_byte(running);
    EXPECT_THAT(router_->take_released(), testing::ElementsAre(&shorter));
    EXPECT_EQ(action(longest), Action::Wait);
}

TEST_F(HoldTest, AgeingLetsAnOldLongOneGoBeforeAYoungShortOne) {
    start_with_lanes(1, held(1.0));
    Ticket& running = admit(key(1, 20));
    Ticket& old = admit(key(2, 60));
    advance(10);
    Ticket& young = admit(key(3, 12));
    first_byte(running);
    EXPECT_THAT(router_->take_released(), testing::ElementsAre(&old));
    EXPECT_EQ(action(young), Action::Wait);
}

TEST_F(HoldTest, TimeAloneReleasesAtATick) {
    start_with_lanes(1, held());
    admit(key(1, 15));  // 1.56 s
    Ticket& waiting = admit(key(2, 20));
    advance(1.2);
    router_->tick(now());
    EXPECT_EQ(action(waiting), Action::Wait);
    advance(0.1);  // 0.26 s of the first are left
    router_->tick(now());
    EXPECT_EQ(action(waiting), Action::Send);
}

TEST_F(HoldTest, APrefixThatIsUnderWayMakesTheNextOnesShort) {
    start_with_lanes(2, held());
    Ticket& running = admit(key(1, 60));
    admit(key(2, 60));
    auto shares = key(3, 40);
    Ticket& first = admit(shares);
    extend(shares, 9, 1);
    Ticket& second = admit(shares);
    EXPECT_EQ(action(first), Action::Wait);
    EXPECT_EQ(action(second), Action::Wait);
    advance(6);
    first_byte(running);
    // The first goes; its prefix is on that backend from then on, and the second is short there.
    EXPECT_EQ(action(first), Action::Send);
    EXPECT_EQ(action(second), Action::Send);
    EXPECT_EQ(first.decision().backend, second.decision().backend);
}

TEST_F(HoldTest, OneEventReleasesSoManyAtMostAndTheTicksTheRest) {
    start_with_lanes(1, held());
    Ticket& running = admit(key(1, 60));
    for (int i = 0; i < 150; ++i) {
        admit(key(2, 40));
    }
    advance(6);
    first_byte(running);
    EXPECT_EQ(router_->take_released().size(), 64U);
    EXPECT_EQ(router_->held(), 86U);
    for (const std::size_t left : {22U, 0U}) {
        advance(0.06);
        router_->tick(now());
        EXPECT_EQ(router_->held(), left);
    }
}

TEST_F(HoldTest, ACancelledRequestLeavesTheQueue) {
    start_with_lanes(1, held());
    Ticket& running = admit(key(1, 20));
    Ticket& leaves = admit(key(2, 20));
    advance(1);
    end(leaves, Outcome::Kind::ClientLeft);
    EXPECT_EQ(router_->held(), 0U);
    EXPECT_EQ(leaves.held(), std::chrono::seconds(1));
    first_byte(running);
    EXPECT_TRUE(router_->take_released().empty());
}

TEST_F(HoldTest, ACancelAfterTheReleaseIsNotHandedOut) {
    start_with_lanes(1, held());
    Ticket& running = admit(key(1, 20));
    Ticket& leaves = admit(key(2, 20));
    first_byte(running);
    end(leaves, Outcome::Kind::ClientLeft);
    EXPECT_TRUE(router_->take_released().empty());
    end(running);
    EXPECT_EQ(in_flight(BackendSlot(0)), 0U);
}

TEST_F(HoldTest, AFullQueueRefuses) {
    auto options = held();
    options.queue.max_requests = 2;
    start_with_lanes(1, options);
    admit(key(1, 20));
    EXPECT_EQ(action(admit(key(2, 20))), Action::Wait);
    EXPECT_EQ(action(admit(key(3, 20))), Action::Wait);
    EXPECT_EQ(action(admit(key(4, 20))), Action::Refuse);
}

TEST_F(HoldTest, HeldRequestsAreRefusedWhenTheirFleetIsGone) {
    start_with_lanes(1, held());
    admit(key(1, 20));
    Ticket& waiting = admit(key(2, 20));
    pool_.find(BackendSlot(0))->draining = true;
    advance(1);
    router_->tick(now());
    EXPECT_THAT(router_->take_released(), testing::ElementsAre(&waiting));
    EXPECT_EQ(action(waiting), Action::Refuse);
    end(waiting);
}

TEST_F(HoldTest, ABackendThatStopsDoesNotKeepItsHeldRequests) {
    start_with_lanes(2, held());
    Ticket& stuck = admit(key(1, 20));
    Ticket& served = admit(key(2, 20));
    auto warm = key(1, 20);
    extend(warm, 3, 10);
    Ticket& waiting = admit(warm);
    EXPECT_EQ(action(waiting), Action::Wait);
    advance(2);
    first_byte(served);
    advance(8);
    router_->tick(now());
    EXPECT_EQ(action(waiting), Action::Send);
    EXPECT_NE(waiting.decision().backend, stuck.decision().backend);
}

TEST_F(HoldTest, ABackendOfSeveralLanesIsFedAsMany) {
    router_ = std::make_unique<Router>(held(), pool_, map_, Random(7));
    config::Backend spec;
    spec.id = "wide";
    spec.lanes = 3;
    add_backend(spec);
    for (std::uint64_t i = 1; i <= 3; ++i) {
        EXPECT_EQ(action(admit(key(i, 20))), Action::Send);
    }
    EXPECT_EQ(action(admit(key(4, 20))), Action::Wait);
}

TEST_F(HoldTest, WithoutConfiguredLanesOneMoreIsTriedUntilItIsKnown) {
    start(1, held());
    EXPECT_EQ(action(admit(key(1, 20))), Action::Send);
    EXPECT_EQ(action(admit(key(2, 20))), Action::Send);
    EXPECT_EQ(action(admit(key(3, 20))), Action::Wait);
}

TEST_F(HoldTest, HoldOffSendsEverythingAtOnce) {
    start(1, sent_at_once());
    for (std::uint64_t i = 1; i <= 10; ++i) {
        EXPECT_EQ(action(admit(key(i, 40))), Action::Send);
    }
}

}  // namespace
}  // namespace prefix_router::routing
