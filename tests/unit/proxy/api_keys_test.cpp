#include "proxy/api_keys.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "prefix_router/metrics/metrics.hpp"

namespace prefix_router::proxy {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const TimePoint kStart{seconds(1000)};

TEST(RateLimitTest, WithoutARateEverythingGoes) {
    RateLimit limit(std::nullopt, 1);
    for (int i = 0; i < 1000; ++i) {
        EXPECT_EQ(limit.take(kStart), Duration::zero());
    }
}

TEST(RateLimitTest, ABurstGoesAtOnceAndThenTheRate) {
    RateLimit limit(2, 3);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(limit.take(kStart), Duration::zero()) << i;
    }
    EXPECT_EQ(limit.take(kStart), milliseconds(500));
    EXPECT_EQ(limit.take(kStart + milliseconds(400)), milliseconds(100));
    EXPECT_EQ(limit.take(kStart + milliseconds(500)), Duration::zero());
    EXPECT_EQ(limit.take(kStart + milliseconds(500)), milliseconds(500));
}

TEST(RateLimitTest, APauseGivesTheBurstAgainAndNoMore) {
    RateLimit limit(1, 2);
    EXPECT_EQ(limit.take(kStart), Duration::zero());
    const TimePoint later = kStart + seconds(100);
    EXPECT_EQ(limit.take(later), Duration::zero());
    EXPECT_EQ(limit.take(later), Duration::zero());
    EXPECT_EQ(limit.take(later), seconds(1));
}

TEST(ApiKeysTest, AreFoundByTheKeyAndByNothingElse) {
    metrics::Registry registry;
    Metrics metrics(registry);
    config::Config config;
    EXPECT_FALSE(ApiKeys(config, metrics).are_asked_for());
    for (const std::string name : {"a", "b"}) {
        config.api_keys.emplace_back().name = name;
        config.api_keys.back().sha256 = to_hex(sha256("key-" + name));
    }
    config.api_keys[1].models = {"m"};
    ApiKeys keys(config, metrics);
    EXPECT_TRUE(keys.are_asked_for());
    ASSERT_NE(keys.find("key-a"), nullptr);
    EXPECT_EQ(keys.find("key-a")->spec.name, "a");
    EXPECT_EQ(keys.find("key-c"), nullptr);
    EXPECT_EQ(keys.find(""), nullptr);
    EXPECT_EQ(keys.find(config.api_keys[0].sha256), nullptr);
    EXPECT_NE(keys.find("key-a")->tenant, keys.find("key-b")->tenant);
    EXPECT_TRUE(keys.find("key-a")->may_use("anything"));
    EXPECT_TRUE(keys.find("key-b")->may_use("m"));
    EXPECT_FALSE(keys.find("key-b")->may_use("M"));
    ASSERT_NE(keys.find_by_name("b"), nullptr);
    EXPECT_EQ(keys.find_by_name("b"), keys.find("key-b"));
    EXPECT_EQ(keys.find_by_name("key-b"), nullptr);
}

TEST(ApiKeysTest, KeepWhatTheirRatesHaveCountedOverAReload) {
    metrics::Registry registry;
    Metrics metrics(registry);
    config::Config config;
    for (const std::string name : {"a", "b"}) {
        config.api_keys.emplace_back().name = name;
        config.api_keys.back().sha256 = to_hex(sha256("key-" + name));
        config.api_keys.back().requests_per_second = 1;
        config.api_keys.back().burst = 1;
    }
    auto before = std::make_unique<ApiKeys>(config, metrics);
    EXPECT_EQ(before->find("key-a")->rate.take(kStart), Duration::zero());
    config.api_keys[1].burst = 5;
    auto after = std::make_unique<ApiKeys>(config, metrics, before.get());
    EXPECT_EQ(after->find("key-a"), before->find("key-a"));
    EXPECT_NE(after->find("key-b"), before->find("key-b"));
    before.reset();
    EXPECT_GT(after->find("key-a")->rate.take(kStart), Duration::zero());
    EXPECT_NE(registry.exposition().find("key=\"b\""), std::string::npos);
    after.reset();
    EXPECT_EQ(registry.exposition().find("key="), std::string::npos);
}

}  // namespace
}  // namespace prefix_router::proxy
