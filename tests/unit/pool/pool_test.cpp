#include "prefix_router/pool/pool.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prefix_router::pool {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TimePoint at(double seconds) {
    return TimePoint(from_seconds(seconds));
}

config::Backend spec(std::string id, std::vector<std::string> models = {}) {
    config::Backend backend;
    backend.id = std::move(id);
    backend.models = std::move(models);
    return backend;
}

class PoolTest : public testing::Test {
  protected:
    BackendSlot add(std::string id, std::vector<std::string> models = {}) {
        return pool_.add(spec(std::move(id), std::move(models))).value();
    }
    BackendSlot add_healthy(std::string id, std::vector<std::string> models = {}) {
        const BackendSlot slot = add(std::move(id), std::move(models));
        pool_.find(slot)->health.probe_succeeded(at(0));
        return slot;
    }
    void eject(BackendSlot slot, double seconds) {
        for (int i = 0; i < 3; ++i) {
            pool_.find(slot)->health.request_failed(at(seconds));
        }
    }
    Pool::Candidates candidates(std::string_view model, double seconds) {
        Pool::Candidates out;
        pool_.candidates(pool_.models().find(model), at(seconds), out);
        return out;
    }

    Pool pool_{config::Health{}};
};

TEST_F(PoolTest, AnIdIsUsedOnce) {
    add("a");
    const auto again = pool_.add(spec("a"));
    ASSERT_TRUE(again.has_error());
    EXPECT_EQ(again.error().kind(), ErrorKind::InvalidConfiguration);
}

TEST_F(PoolTest, AFreedSlotIsReusedAndSlotsStayInOrder) {
    const BackendSlot a = add("a");
    const BackendSlot b = add("b");
    const BackendSlot c = add("c");
    pool_.remove(b);
    EXPECT_THAT(pool_.slots(), ElementsAre(a, c));
    EXPECT_EQ(pool_.find(b), nullptr);
    EXPECT_EQ(add("d"), b);
    EXPECT_THAT(pool_.slots(), ElementsAre(a, b, c));
}

TEST_F(PoolTest, OnlyHealthyBackendsOfTheModelAreUsable) {
    const BackendSlot a = add_healthy("a", {"llama"});
    add_healthy("b", {"qwen"});
    const BackendSlot c = add_healthy("c");
    add("loading", {"llama"});
    EXPECT_THAT(candidates("llama", 1).usable, ElementsAre(a, c));
}

TEST_F(PoolTest, AModelThatNobodyServesGoesToAll) {
    const BackendSlot a = add_healthy("a", {"llama"});
    const BackendSlot b = add_healthy("b", {"qwen"});
    EXPECT_THAT(candidates("made-up", 1).usable, ElementsAre(a, b));
}

TEST_F(PoolTest, ReportedModelsCountOnlyWhereNoneAreConfigured) {
    const BackendSlot a = add_healthy("a", {"llama"});
    const BackendSlot b = add_healthy("b");
    const std::vector<std::string> reported{"qwen"};
    pool_.report_models(a, reported);
    pool_.report_models(b, reported);
    EXPECT_THAT(candidates("qwen", 1).usable, ElementsAre(b));
    EXPECT_THAT(candidates("llama", 1).usable, ElementsAre(a));
}

TEST_F(PoolTest, ADrainingBackendGetsNothingNew) {
    const BackendSlot a = add_healthy("a");
    const BackendSlot b = add_healthy("b");
    pool_.find(b)->draining = true;
    EXPECT_THAT(candidates("", 1).usable, ElementsAre(a));
    pool_.find(a)->draining = true;
    EXPECT_THAT(candidates("", 1).usable, IsEmpty());
    EXPECT_FALSE(pool_.has_usable(at(1)));
}

TEST_F(PoolTest, BackendsNotYetProbedServeUntilOneIsHealthy) {
    const BackendSlot a = add("a");
    const BackendSlot b = add("b");
    EXPECT_THAT(candidates("", 1).usable, ElementsAre(a, b));
    EXPECT_FALSE(candidates("", 1).is_panic);
    pool_.find(b)->health.probe_failed(at(1));
    EXPECT_THAT(candidates("", 1).usable, ElementsAre(a));
    pool_.find(b)->health.probe_succeeded(at(2));
    EXPECT_THAT(candidates("", 2).usable, ElementsAre(b));
}

TEST_F(PoolTest, TrialsAreListedApart) {
    const BackendSlot a = add_healthy("a");
    const BackendSlot b = add_healthy("b");
    eject(b, 1);
    EXPECT_THAT(candidates("", 2).usable, ElementsAre(a));
    EXPECT_THAT(candidates("", 2).trials, IsEmpty());
    EXPECT_THAT(candidates("", 7).usable, ElementsAre(a));
    EXPECT_THAT(candidates("", 7).trials, ElementsAre(b));
    pool_.find(b)->health.begin_trial(at(7));
    EXPECT_THAT(candidates("", 7).trials, IsEmpty());
}

TEST_F(PoolTest, WhenAllAreEjectedTheLeastBadComesFirst) {
    const BackendSlot a = add_healthy("a");
    const BackendSlot b = add_healthy("b");
    pool_.find(b)->health.request_succeeded(at(100));
    eject(a, 101);
    eject(b, 101);
    const auto panic = candidates("", 102);
    EXPECT_TRUE(panic.is_panic);
    EXPECT_THAT(panic.usable, ElementsAre(b, a));
    EXPECT_FALSE(pool_.has_usable(at(102)));
}

}  // namespace
}  // namespace prefix_router::pool
