#include "routing/cost.hpp"

#include <gtest/gtest.h>

namespace prefix_router::routing {
namespace {

CostInputs idle() {
    CostInputs inputs;
    inputs.own = 0.5;
    inputs.prompt = 4000;
    inputs.uncached = 4000;
    inputs.capacity = 500'000;
    inputs.room = 500'000;
    inputs.decode = 5;
    return inputs;
}

CostTerms priced(const CostInputs& inputs) {
    CostTerms terms;
    price(inputs, terms);
    return terms;
}

TEST(CostTest, AnIdleEmptyBackendCostsTheRequestsOwnPrefill) {
    EXPECT_DOUBLE_EQ(priced(idle()).total, 0.5);
}

TEST(CostTest, TheExternalityIsTheBusyPeriodsDelay) {
    CostInputs inputs = idle();
    inputs.backlog = 1;
    inputs.arrivals = 1;
    inputs.utilisation = 0.5;
    EXPECT_DOUBLE_EQ(priced(inputs).externality, 1 * 0.5 * (2 * 1 + 0.5) / (2 * 0.5));
    EXPECT_DOUBLE_EQ(priced(inputs).total, 1 + 0.5 + 1.25);
}

TEST(CostTest, UtilisationCountsUpToNineTenths) {
    CostInputs at_limit = idle();
    at_limit.arrivals = 1;
    at_limit.utilisation = 0.9;
    CostInputs beyond = at_limit;
    beyond.utilisation = 3;
    EXPECT_DOUBLE_EQ(priced(beyond).externality, priced(at_limit).externality);
}

TEST(CostTest, NewTokensThatEvictTokensInUseCostAsMuchAgain) {
    CostInputs inputs = idle();
    inputs.working_set = 500'000;
    EXPECT_DOUBLE_EQ(priced(inputs).eviction, 0.5 * (1 + 0.25));
    inputs.working_set = 498'000;  // room for half of the new tokens
    EXPECT_NEAR(priced(inputs).eviction, 0.5 * (0.5 + 0.25 * 0.996), 1e-12);
    inputs.working_set = 250'000;
    EXPECT_DOUBLE_EQ(priced(inputs).eviction, 0.5 * 0.125);
}

TEST(CostTest, AFullMemoryCostsAWaitForDecodesToEnd) {
    CostInputs inputs = idle();
    inputs.pinned = 500'000 - 4512;
    EXPECT_EQ(priced(inputs).memory_wait, 0);
    inputs.pinned = 500'000;
    EXPECT_DOUBLE_EQ(priced(inputs).memory_wait, 5 * 1.25);
    inputs.pinned = 5'000'000;
    EXPECT_DOUBLE_EQ(priced(inputs).memory_wait, 5 * 4.0);
    inputs.room.reset();
    EXPECT_EQ(priced(inputs).memory_wait, 0) << "of a memory that nobody told";
}

TEST(CostTest, EachRequestInFlightCostsFourMilliseconds) {
    CostInputs inputs = idle();
    inputs.in_flight = 10;
    EXPECT_DOUBLE_EQ(priced(inputs).in_flight, 0.04);
}

}  // namespace
}  // namespace prefix_router::routing
