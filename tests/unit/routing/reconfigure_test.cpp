#include <vector>

#include <gtest/gtest.h>

#include "prefix_router/routing/router.hpp"

#include "unit/routing/router_fixture.hpp"

namespace prefix_router::routing {
namespace {

class Reconfigured : public RouterTest {
  protected:
    void change(BackendSlot slot, const config::Backend& spec) {
        const config::Backend before = pool_.find(slot)->spec;
        pool_.change(slot, spec);
        router_->backend_changed(slot, before, now());
    }
};

TEST_F(Reconfigured, ALimitOfRequestsHoldsAtOnceAndLetsGoWhatWaited) {
    Router::Options limited = sent_at_once();
    start(1, limited);
    Ticket& first = admit(key(1, 4));
    limited.max_in_flight = 1;
    router_->reconfigure(limited, now());
    Ticket& second = admit(key(2, 4));
    EXPECT_EQ(second.decision().action, Action::Wait);
    advance(1);
    limited.max_in_flight = std::nullopt;
    router_->reconfigure(limited, now());
    EXPECT_EQ(second.decision().action, Action::Send);
    EXPECT_EQ(router_->take_released(), std::vector<Ticket*>{&second});
    end(first);
    end(second);
}

TEST_F(Reconfigured, ABackendsOwnLimitIsItsOwn) {
    Router::Options limited = sent_at_once();
    limited.max_in_flight = 5;
    start(1, limited);
    const BackendSlot slot = pool_.slots().front();
    config::Backend spec = pool_.find(slot)->spec;
    spec.max_in_flight = 2;
    change(slot, spec);
    limited.max_in_flight = 7;
    router_->reconfigure(limited, now());
    EXPECT_EQ(router_->belief(slot, now()).max_in_flight, 2U);
    spec.max_in_flight.reset();
    change(slot, spec);
    EXPECT_EQ(router_->belief(slot, now()).max_in_flight, 7U);
}

TEST_F(Reconfigured, TheQueueTakesNoMoreThanItMayNow) {
    Router::Options limited = sent_at_once();
    limited.max_in_flight = 1;
    start(1, limited);
    Ticket& sent = admit(key(1, 4));
    Ticket& waits = admit(key(2, 4));
    limited.queue.max_requests = 1;
    router_->reconfigure(limited, now());
    Ticket& refused = admit(key(3, 4));
    EXPECT_EQ(waits.decision().action, Action::Wait);
    EXPECT_EQ(refused.decision().refusal, Refusal::QueueFull);
    for (Ticket* const ticket : {&refused, &sent, &waits}) {
        end(*ticket);
    }
}

TEST_F(Reconfigured, ACapacityThatIsSetIsBelievedUntilTheEngineTellsAnother) {
    start(1, sent_at_once());
    const BackendSlot slot = pool_.slots().front();
    const auto told = [&](Tokens capacity) {
        pool_.find(slot)->scraped.capacity = capacity;
        return router_->backend_scraped(slot, now());
    };
    EXPECT_TRUE(told(50'000));
    config::Backend spec = pool_.find(slot)->spec;
    spec.capacity_tokens = 80'000;
    change(slot, spec);
    EXPECT_FALSE(told(50'000)) << "it tells nothing new";
    EXPECT_EQ(router_->belief(slot, now()).capacity, 80'000);
    EXPECT_TRUE(told(60'000));
    EXPECT_EQ(router_->belief(slot, now()).capacity, 60'000);
    spec.capacity_tokens.reset();
    spec.lanes = 3;
    change(slot, spec);
    EXPECT_EQ(router_->belief(slot, now()).capacity, 60'000);
    EXPECT_EQ(router_->belief(slot, now()).lanes, 3);
}

TEST_F(Reconfigured, ABackendThatChangesKeepsItsPrefixes) {
    start(2, sent_at_once());
    const auto prompt = key(1, 20);
    const BackendSlot home = serve(prompt, 0.5).decision().backend;
    config::Backend spec = pool_.find(home)->spec;
    spec.weight = 5;
    spec.lanes = 2;
    change(home, spec);
    advance(5);
    EXPECT_EQ(serve(prompt, 0.1).decision().backend, home);
}

}  // namespace
}  // namespace prefix_router::routing
