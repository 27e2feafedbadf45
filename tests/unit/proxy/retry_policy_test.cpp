#include "proxy/retry_policy.hpp"

#include <ostream>

#include <gtest/gtest.h>

namespace prefix_router::proxy {
namespace {

struct Case {
    const char* name;
    AttemptFacts facts;
    RetryAction expected;
};

void PrintTo(const Case& entry, std::ostream* out) {
    *out << entry.name;
}

AttemptFacts answered(unsigned status) {
    AttemptFacts facts;
    facts.status = status;
    facts.gave_bytes = true;
    return facts;
}

AttemptFacts failed(ErrorKind kind) {
    AttemptFacts facts;
    facts.failure = kind;
    facts.killed_connections = kind == ErrorKind::ResetBeforeResponse ? 1 : 0;
    return facts;
}

AttemptFacts stale(bool gave_bytes, bool was_replaced, unsigned killed) {
    AttemptFacts facts = failed(ErrorKind::ResetBeforeResponse);
    facts.used_pooled_connection = true;
    facts.gave_bytes = gave_bytes;
    facts.was_replaced = was_replaced;
    facts.killed_connections = killed;
    return facts;
}

AttemptFacts refused_after_kills(unsigned killed) {
    AttemptFacts facts = failed(ErrorKind::ConnectRefused);
    facts.killed_connections = killed;
    return facts;
}

class RetryActionTest : public testing::TestWithParam<Case> {};

TEST_P(RetryActionTest, IsAsTheTableSays) {
    EXPECT_EQ(retry_action(GetParam().facts), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Table, RetryActionTest,
    testing::Values(
        Case{"a good answer", answered(200), RetryAction::Relay},
        Case{"a client error", answered(400), RetryAction::Relay},
        Case{"an engine error", answered(500), RetryAction::Relay},
        Case{"a refusal 429", answered(429), RetryAction::NextBackend},
        Case{"a refusal 503", answered(503), RetryAction::NextBackend},
        Case{"refused", failed(ErrorKind::ConnectRefused), RetryAction::NextBackend},
        Case{"connect timeout", failed(ErrorKind::ConnectTimeout), RetryAction::NextBackend},
        Case{"unreachable", failed(ErrorKind::ConnectFailed), RetryAction::NextBackend},
        Case{"no TLS", failed(ErrorKind::BackendTlsFailed), RetryAction::NextBackend},
        Case{"TLS too late", failed(ErrorKind::BackendTlsTimeout), RetryAction::NextBackend},
        Case{"bad certificate", failed(ErrorKind::BackendCertificate), RetryAction::NextBackend},
        Case{"our own limit", failed(ErrorKind::OutOfDescriptors), RetryAction::GiveUp},
        Case{"reset on a fresh connection", failed(ErrorKind::ResetBeforeResponse),
             RetryAction::GiveUp},
        Case{"stale", stale(false, false, 1), RetryAction::FreshConnection},
        Case{"stale that gave bytes", stale(true, false, 1), RetryAction::GiveUp},
        Case{"stale twice", stale(false, true, 1), RetryAction::GiveUp},
        Case{"killed two connections", stale(false, false, 2), RetryAction::GiveUp},
        Case{"killed two, then refused", refused_after_kills(2), RetryAction::GiveUp},
        Case{"killed one, then refused", refused_after_kills(1), RetryAction::NextBackend},
        Case{"too slow", failed(ErrorKind::FirstByteTimeout), RetryAction::GiveUp},
        Case{"not HTTP", failed(ErrorKind::BadResponse), RetryAction::GiveUp},
        Case{"the client left", failed(ErrorKind::ClientGone), RetryAction::GiveUp},
        Case{"stopped", failed(ErrorKind::Draining), RetryAction::GiveUp}));

TEST(RetryBudget, CoversABurstAndThenAShareOfTheRequests) {
    RetryBudget budget(0.2);
    int taken = 0;
    while (budget.try_take()) {
        ++taken;
    }
    EXPECT_EQ(taken, 50);
    for (int i = 0; i < 100; ++i) {
        budget.request_came();
    }
    taken = 0;
    while (budget.try_take()) {
        ++taken;
    }
    EXPECT_EQ(taken, 20);
}

TEST(RetryBudget, DoesNotSaveUpBeyondItsBurst) {
    RetryBudget budget(0.2);
    for (int i = 0; i < 10'000; ++i) {
        budget.request_came();
    }
    int taken = 0;
    while (budget.try_take()) {
        ++taken;
    }
    EXPECT_LE(taken, 51);
}

TEST(RetryBudget, TakesBackWhatWasNotUsed) {
    RetryBudget budget(0.2);
    for (int i = 0; i < 1000; ++i) {
        ASSERT_TRUE(budget.try_take());
        budget.give_back();
    }
}

TEST(RetryBudget, FollowsAnotherShare) {
    RetryBudget budget(0.2);
    budget.set_share(0);
    EXPECT_FALSE(budget.try_take());
    budget.set_share(0.5);
    for (int i = 0; i < 50; ++i) {
        EXPECT_TRUE(budget.try_take());
    }
    EXPECT_FALSE(budget.try_take());
    budget.request_came();
    budget.request_came();
    EXPECT_TRUE(budget.try_take());
}

TEST(RetryBudget, OfZeroAllowsNothing) {
    RetryBudget budget(0);
    budget.request_came();
    EXPECT_FALSE(budget.try_take());
}

}  // namespace
}  // namespace prefix_router::proxy
