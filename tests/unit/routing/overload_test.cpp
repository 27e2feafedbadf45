#include <algorithm>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/routing/router_fixture.hpp"

namespace prefix_router::routing {
namespace {

using config::Priority;
using testing::ElementsAre;
using testing::IsEmpty;

/// Backends that take few requests at a time, and what waits for them.
class Overload : public RouterTest {
  protected:
    static Router::Options by(config::Strategy strategy) {
        Router::Options options;
        options.routing.strategy = strategy;
        options.queue.max_wait = std::chrono::milliseconds(0);
        return options;
    }
    static Router::Options in_turn() { return by(config::Strategy::RoundRobin); }

    void start_limited(std::size_t backends, std::uint32_t most, Router::Options options) {
        options.max_in_flight = most;
        start(backends, std::move(options));
    }

    struct Kind {
        Priority priority = Priority::Normal;
        std::uint64_t tenant = 0;
        std::size_t bytes = 0;
        double seconds_left = 0;  // 0: no deadline
        ModelId model = kUnknownModel;
    };
    Ticket& come(const Kind& kind, prompt::PromptKey key = {}) {
        Ask ask;
        ask.key = std::move(key);
        ask.streams = true;
        ask.priority = kind.priority;
        ask.tenant = kind.tenant;
        ask.bytes = kind.bytes;
        ask.model = kind.model;
        if (kind.seconds_left > 0) {
            ask.deadline = now() + from_seconds(kind.seconds_left);
        }
        tickets_.push_back(std::make_unique<Ticket>(std::move(ask)));
        router_->admit(*tickets_.back(), now());
        return *tickets_.back();
    }
    Ticket& come() { return come(Kind{}); }
    std::vector<Ticket*> come(std::size_t count, const Kind& kind) {
        std::vector<Ticket*> all;
        for (std::size_t i = 0; i < count; ++i) {
            all.push_back(&come(kind));
        }
        return all;
    }

    /// Ends `ticket` and returns whom that let go.
    std::vector<Ticket*> end_and_see(Ticket& ticket) {
        end(ticket);
        return router_->take_released();
    }
    /// Serves one request after the other until nobody waits; returns the order.
    std::vector<Ticket*> serve_all(Ticket& first) {
        std::vector<Ticket*> order;
        std::vector<Ticket*> running{&first};
        while (!running.empty()) {
            Ticket* const ticket = running.front();
            running.erase(running.begin());
            advance(0.1);
            for (Ticket* const released : end_and_see(*ticket)) {
                running.push_back(released);
                order.push_back(released);
            }
        }
        return order;
    }

    static Action action(const Ticket& ticket) { return ticket.decision().action; }
    static Refusal refusal(const Ticket& ticket) {
        return action(ticket) == Action::Refuse ? ticket.decision().refusal : Refusal::None;
    }
    std::uint32_t requests(std::size_t slot) {
        return router_->belief(BackendSlot(static_cast<std::uint16_t>(slot)), now()).requests;
    }
    void expect_empty() {
        EXPECT_EQ(router_->held(), 0U);
        EXPECT_EQ(router_->queue().bytes, 0U);
        for (const BackendSlot slot : pool_.slots()) {
            EXPECT_EQ(in_flight(slot), 0U);
            EXPECT_EQ(router_->belief(slot, now()).requests, 0U);
        }
    }
};

class OverloadOfAll : public Overload, public testing::WithParamInterface<config::Strategy> {};

TEST_P(OverloadOfAll, NoBackendGetsMoreThanItTakesAndTheRestWait) {
    start_limited(3, 2, by(GetParam()));
    std::vector<Ticket*> sent;
    for (std::uint64_t i = 0; i < 12; ++i) {
        Ticket& ticket = come({}, i % 3 == 0 ? prompt::PromptKey{} : key(i % 2, 3));
        if (action(ticket) == Action::Send) {
            sent.push_back(&ticket);
        }
    }
    ASSERT_EQ(sent.size(), 6U);
    EXPECT_EQ(router_->held(), 6U);
    for (std::size_t i = 0; i < sent.size(); ++i) {
        for (std::size_t slot = 0; slot < 3; ++slot) {
            EXPECT_LE(requests(slot), 2U);
        }
        advance(1);
        const auto released = end_and_see(*sent[i]);
        sent.insert(sent.end(), released.begin(), released.end());
        router_->tick(now());
        const auto later = router_->take_released();
        sent.insert(sent.end(), later.begin(), later.end());
    }
    EXPECT_EQ(sent.size(), 12U);
    expect_empty();
}

INSTANTIATE_TEST_SUITE_P(Strategies, OverloadOfAll,
                         testing::Values(config::Strategy::Adaptive, config::Strategy::PrefixAware,
                                         config::Strategy::LeastOutstandingRequests,
                                         config::Strategy::RoundRobin, config::Strategy::Random));

TEST_F(Overload, ABackendsOwnLimitGoesBeforeThatOfAll) {
    start_limited(1, 1, in_turn());
    config::Backend wide;
    wide.id = "wide";
    wide.max_in_flight = 3;
    add_backend(wide);
    come(5, {});
    EXPECT_EQ(requests(0), 1U);
    EXPECT_EQ(requests(1), 3U);
    EXPECT_EQ(router_->held(), 1U);
}

TEST_F(Overload, SequencesOfOneRequestAreOneRequest) {
    start_limited(1, 1, in_turn());
    Ask ask;
    ask.sequences = 8;
    Ticket many(std::move(ask));
    router_->admit(many, now());
    EXPECT_EQ(action(many), Action::Send);
    EXPECT_EQ(in_flight(BackendSlot(0)), 8U);
    Ticket& waiting = come();
    EXPECT_EQ(action(waiting), Action::Wait);
    EXPECT_THAT(end_and_see(many), ElementsAre(&waiting));
}

TEST_F(Overload, OnePriorityOfOneTenantIsServedInTheOrderOfArrival) {
    start_limited(1, 1, in_turn());
    Ticket& running = come();
    std::vector<Ticket*> waiting;
    for (std::uint64_t i = 0; i < 5; ++i) {
        waiting.push_back(&come({}, key(i, 5 - i)));
        advance(0.1);
    }
    EXPECT_EQ(serve_all(running), waiting);
    expect_empty();
}

TEST_F(Overload, APrefixWaitsForItsBackendWhileOneIsSoonFree) {
    start_limited(2, 1, by(config::Strategy::Adaptive));
    Ticket& first = serve(key(1, 200), 20);
    const BackendSlot home = first.decision().backend;
    auto turn = key(1, 200);
    extend(turn, 2, 1);
    Ticket& running = admit(turn);
    ASSERT_EQ(running.decision().backend, home);
    advance(0.2);
    first_byte(running);
    advance(0.2);
    Ticket& next = admit(turn);
    EXPECT_EQ(action(next), Action::Wait) << "the other would compute it all anew";
    EXPECT_THAT(end_and_see(running), ElementsAre(&next));
    EXPECT_EQ(next.decision().backend, home);
    EXPECT_EQ(next.decision().reason, Reason::Warm);
}

TEST_F(Overload, ABackendWhoseRequestsDoNotEndIsLeftForOneWithRoom) {
    start_limited(2, 1, by(config::Strategy::Adaptive));
    Ticket& first = serve(key(1, 200), 20);
    auto turn = key(1, 200);
    extend(turn, 2, 1);
    Ticket& endless = admit(turn);
    ASSERT_EQ(endless.decision().backend, first.decision().backend);
    advance(0.2);
    first_byte(endless);
    Ticket& next = admit(turn);
    EXPECT_EQ(action(next), Action::Wait);
    advance(60);
    router_->tick(now());
    EXPECT_EQ(action(next), Action::Send);
    EXPECT_NE(next.decision().backend, endless.decision().backend);
}

TEST_F(Overload, AHomeThatIsFullIsAtItsThreshold) {
    start_limited(3, 1, by(config::Strategy::PrefixAware));
    Ticket& home = admit(key(1, 4));
    EXPECT_EQ(home.decision().reason, Reason::Home);
    Ticket& other = admit(key(1, 4));
    EXPECT_EQ(action(other), Action::Send);
    EXPECT_EQ(other.decision().reason, Reason::HomeFull);
    EXPECT_NE(other.decision().backend, home.decision().backend);
}

TEST_F(Overload, ARetryWaitsForRoomElsewhereAndNeverComesBack) {
    start_limited(2, 1, in_turn());
    Ticket& one = come();
    Ticket& two = come();
    Ticket& waiting = come();
    router_->retry(one, Outcome::Kind::Failed, now());
    EXPECT_EQ(action(one), Action::Wait) << "the other backend is full";
    EXPECT_THAT(router_->take_released(), ElementsAre(&waiting)) << "its place is free";
    EXPECT_THAT(end_and_see(waiting), IsEmpty()) << "that one has failed it";
    EXPECT_THAT(end_and_see(two), ElementsAre(&one));
    EXPECT_EQ(one.decision().reason, Reason::Retried);
    router_->retry(one, Outcome::Kind::Failed, now());
    EXPECT_EQ(refusal(one), Refusal::NoBackend);
    end(one, Outcome::Kind::Failed);
    expect_empty();
}

TEST_F(Overload, AFullQueueRefusesAndSaysForHowLong) {
    auto options = in_turn();
    options.queue.max_requests = 4;
    start_limited(1, 1, options);
    Ticket* running = &come();
    for (int i = 0; i < 20; ++i) {  // one every two seconds
        Ticket& next = come();
        advance(2);
        ASSERT_THAT(end_and_see(*running), ElementsAre(&next));
        running = &next;
    }
    come(4, {});
    Ticket& refused = come();
    EXPECT_EQ(refusal(refused), Refusal::QueueFull);
    EXPECT_NEAR(refused.decision().retry_after, 8, 1);
    end(refused, Outcome::Kind::Failed);
    EXPECT_EQ(router_->held(), 4U);
}

TEST_F(Overload, WithoutAQueueWhatFindsNoRoomIsRefused) {
    auto options = by(config::Strategy::Adaptive);
    options.queue.max_requests = 0;
    start_limited(1, 2, options);
    EXPECT_EQ(action(admit(key(1, 40))), Action::Send);
    EXPECT_EQ(action(admit(key(2, 40))), Action::Send) << "none is held for the work before it";
    EXPECT_EQ(refusal(admit(key(3, 40))), Refusal::QueueFull);
}

TEST_F(Overload, AFullQueueGivesUpItsYoungestOfTheLowestPriority) {
    auto options = in_turn();
    options.queue.max_requests = 3;
    start_limited(1, 1, options);
    come();
    Ticket& low = come({.priority = Priority::Low});
    Ticket& younger = come({.priority = Priority::Low});
    Ticket& normal = come();
    Ticket& high = come({.priority = Priority::High});
    EXPECT_EQ(action(high), Action::Wait);
    EXPECT_EQ(refusal(younger), Refusal::Displaced);
    EXPECT_THAT(router_->take_released(), ElementsAre(&younger));
    come({.priority = Priority::High});
    EXPECT_EQ(refusal(low), Refusal::Displaced);
    come({.priority = Priority::High});
    EXPECT_EQ(refusal(normal), Refusal::Displaced);
    EXPECT_EQ(refusal(come({.priority = Priority::High})), Refusal::QueueFull);
    EXPECT_EQ(refusal(come()), Refusal::QueueFull);
}

TEST_F(Overload, TheQueueIsBoundedByTheBytesOfItsBodies) {
    auto options = in_turn();
    options.queue.max_bytes = 100;
    start_limited(1, 1, options);
    come({.bytes = 1000});
    Ticket& low = come({.priority = Priority::Low, .bytes = 60});
    EXPECT_EQ(router_->queue().bytes, 60U);
    EXPECT_EQ(refusal(come({.priority = Priority::Low, .bytes = 41})), Refusal::QueueFull);
    EXPECT_EQ(action(come({.bytes = 40})), Action::Wait);
    EXPECT_EQ(refusal(come({.priority = Priority::High, .bytes = 101})), Refusal::QueueFull);
    EXPECT_EQ(action(low), Action::Wait) << "nobody gives way to what does not fit even so";
    EXPECT_EQ(action(come({.priority = Priority::High, .bytes = 50})), Action::Wait);
    EXPECT_EQ(refusal(low), Refusal::Displaced);
    EXPECT_EQ(router_->queue().bytes, 90U);
}

TEST_F(Overload, AHigherPriorityGoesFirst) {
    start_limited(1, 1, in_turn());
    Ticket& running = come();
    Ticket& low = come({.priority = Priority::Low});
    Ticket& normal = come();
    Ticket& high = come({.priority = Priority::High});
    EXPECT_THAT(serve_all(running), ElementsAre(&high, &normal, &low));
}

TEST_F(Overload, TheLowestPriorityGetsOneTurnInSixteen) {
    start_limited(1, 1, in_turn());
    Ticket* running = &come();
    const auto low = come(4, {.priority = Priority::Low});
    std::vector<std::size_t> turns;
    for (std::size_t i = 1; i <= 64; ++i) {
        come({.priority = Priority::High});
        come({.priority = Priority::High});
        const auto released = end_and_see(*running);
        ASSERT_EQ(released.size(), 1U);
        running = released.front();
        if (running->ask().priority == Priority::Low) {
            turns.push_back(i);
            EXPECT_EQ(running, low[turns.size() - 1]) << "in its own order";
        }
    }
    EXPECT_THAT(turns, ElementsAre(16U, 32U, 48U, 64U));
}

TEST_F(Overload, ATenantWithAThousandDoesNotHoldUpAnothersFirst) {
    start_limited(1, 1, in_turn());
    Ticket& running = come({.tenant = 1});
    auto many = come(1000, {.tenant = 1});
    Ticket& first = come({.tenant = 2});
    Ticket& second = come({.tenant = 2});
    EXPECT_THAT(end_and_see(running), ElementsAre(many[0])) << "both start level";
    EXPECT_THAT(end_and_see(*many[0]), ElementsAre(&first));
    EXPECT_THAT(end_and_see(first), ElementsAre(many[1]));
    EXPECT_THAT(end_and_see(*many[1]), ElementsAre(&second));
}

TEST_F(Overload, TenantsShareByTheWorkThatTheyBring) {
    start_limited(1, 1, by(config::Strategy::LeastOutstandingRequests));
    Ticket* running = &come();
    for (std::uint64_t i = 0; i < 40; ++i) {
        come({.tenant = 1}, key(1000 + i, 90));
        come({.tenant = 2}, key(2000 + i, 9));
    }
    int large = 0;
    int small = 0;
    for (int i = 0; i < 33; ++i) {
        running = end_and_see(*running).at(0);
        (running->ask().tenant == 1 ? large : small) += 1;
    }
    EXPECT_NEAR(small, 10 * large, 5);
}

TEST_F(Overload, OneRequestAtATimeIsNoWayToTheFront) {
    start_limited(1, 1, in_turn());
    Ticket* running = &come({.tenant = 1});
    come(100, {.tenant = 1});
    come({.tenant = 2});
    int turns = 0;
    for (int i = 0; i < 20; ++i) {
        running = end_and_see(*running).at(0);
        if (running->ask().tenant == 2) {
            ++turns;
            come({.tenant = 2});
        }
    }
    EXPECT_EQ(turns, 10);
}

TEST_F(Overload, WithinATenantTheShortestGoesFirst) {
    start_limited(1, 1, by(config::Strategy::Adaptive));
    Ticket& running = admit(key(1, 20));
    Ticket& long_one = come({.tenant = 1}, key(2, 60));
    Ticket& others = come({.tenant = 2}, key(3, 40));
    Ticket& short_one = come({.tenant = 1}, key(4, 12));
    advance(2);
    first_byte(running);
    EXPECT_THAT(end_and_see(running), ElementsAre(&short_one));
    first_byte(short_one);
    EXPECT_THAT(end_and_see(short_one), ElementsAre(&others));
    first_byte(others);
    EXPECT_THAT(end_and_see(others), ElementsAre(&long_one));
}

TEST_F(Overload, AModelWhoseBackendsAreFullStandsInNobodysWay) {
    start(0, in_turn());
    for (const char* model : {"a", "b"}) {
        config::Backend spec;
        spec.id = model;
        spec.models = {model};
        spec.max_in_flight = 1;
        add_backend(spec);
    }
    const ModelId a = pool_.models().find("a");
    const ModelId b = pool_.models().find("b");
    come({.model = a});
    Ticket& running = come({.model = b});
    come(200, {.model = a});
    Ticket& waiting = come({.model = b});
    EXPECT_EQ(action(waiting), Action::Wait);
    EXPECT_THAT(end_and_see(running), ElementsAre(&waiting));
}

TEST_F(Overload, ADeadlineThatHasPassedIsRefusedAtOnce) {
    start_limited(1, 4, in_turn());
    Ask ask;
    ask.deadline = now();
    Ticket ticket(std::move(ask));
    router_->admit(ticket, now());
    EXPECT_EQ(refusal(ticket), Refusal::Deadline);
    end(ticket, Outcome::Kind::Failed);
    expect_empty();
}

TEST_F(Overload, ADeadlineThatPassesInTheQueueEndsTheWait) {
    start_limited(1, 1, in_turn());
    Ticket& running = come();
    Ticket& impatient = come({.seconds_left = 3});
    Ticket& patient = come({.seconds_left = 30});
    advance(2.9);
    router_->tick(now());
    EXPECT_THAT(router_->take_released(), IsEmpty());
    advance(0.2);
    router_->tick(now());
    EXPECT_THAT(router_->take_released(), ElementsAre(&impatient));
    EXPECT_EQ(refusal(impatient), Refusal::Deadline);
    EXPECT_THAT(end_and_see(running), ElementsAre(&patient));
}

TEST_F(Overload, WhatCannotBeginInTimeIsNotSentAnyMore) {
    auto options = by(config::Strategy::Adaptive);
    options.learn_capacity = false;
    start_limited(1, 1, options);
    for (std::uint64_t i = 0; i < 20; ++i) {
        serve(key(100 + i, 20), 1.28);  // 8,000 tokens/s
    }
    Ticket& running = admit(key(1, 2));
    Ticket& waiting = come({.seconds_left = 6}, key(2, 60));  // 3.8 s of its own
    Ticket& next = come({}, key(3, 60));
    EXPECT_EQ(action(waiting), Action::Wait);
    advance(3);
    EXPECT_THAT(end_and_see(running), ElementsAre(&waiting, &next));
    EXPECT_EQ(refusal(waiting), Refusal::Deadline) << "3 s are left of the 3.8 s that it takes";
    EXPECT_EQ(action(next), Action::Send);
}

TEST_F(Overload, AWaitIsLimitedByPriority) {
    auto options = in_turn();
    options.queue.max_wait = std::chrono::seconds(10);
    options.queue.max_wait_high = std::chrono::seconds(2);
    options.queue.max_wait_low = std::chrono::seconds(60);
    start_limited(1, 1, options);
    come();
    Ticket& low = come({.priority = Priority::Low});
    Ticket& normal = come();
    Ticket& high = come({.priority = Priority::High});
    const auto after = [&](double seconds) {
        advance(seconds);
        router_->tick(now());
        return router_->take_released();
    };
    EXPECT_THAT(after(2.1), ElementsAre(&high));
    EXPECT_THAT(after(8), ElementsAre(&normal));
    EXPECT_THAT(after(49), IsEmpty());
    EXPECT_THAT(after(1), ElementsAre(&low));
    EXPECT_EQ(refusal(low), Refusal::QueueTimeout);
}

TEST_F(Overload, AWaitThatWouldBeFarTooLongIsRefusedAtOnce) {
    auto options = in_turn();
    options.queue.max_wait = std::chrono::seconds(10);
    start_limited(1, 1, options);
    Ticket* running = &come();
    for (int i = 0; i < 20; ++i) {  // one a second
        Ticket& next = come();
        advance(1);
        ASSERT_THAT(end_and_see(*running), ElementsAre(&next));
        running = &next;
    }
    int waiting = 0;
    while (action(come()) == Action::Wait && waiting < 1000) {
        ++waiting;
    }
    EXPECT_NEAR(waiting, 20, 3) << "half of what is expected must be too long";
    EXPECT_EQ(refusal(*tickets_.back()), Refusal::QueueTimeout);
    EXPECT_NEAR(tickets_.back()->decision().retry_after, 20, 3);
    EXPECT_EQ(action(come({.priority = Priority::High})), Action::Wait) << "it goes first";
}

TEST_F(Overload, WhatLeavesTheQueueFreesItsPlace) {
    auto options = in_turn();
    options.queue.max_requests = 1;
    options.queue.max_bytes = 10;
    start_limited(1, 1, options);
    Ticket& running = come();
    Ticket& leaves = come({.tenant = 3, .bytes = 10});
    end(leaves, Outcome::Kind::ClientLeft);
    EXPECT_EQ(router_->queue().bytes, 0U);
    Ticket& stays = come({.bytes = 10});
    EXPECT_EQ(action(stays), Action::Wait);
    EXPECT_THAT(end_and_see(running), ElementsAre(&stays));
    end(stays);
    expect_empty();
}

TEST_F(Overload, WhereAllBackendsHaveFailedTheLimitHoldsToo) {
    start_limited(2, 1, in_turn());
    eject(BackendSlot(0));
    eject(BackendSlot(1));
    const auto all = come(6, {});
    std::size_t sent = 0;
    for (const Ticket* ticket : all) {
        sent += action(*ticket) == Action::Send ? 1U : 0U;
    }
    EXPECT_EQ(sent, 2U);
    EXPECT_EQ(router_->held(), 4U);
}

}  // namespace
}  // namespace prefix_router::routing
