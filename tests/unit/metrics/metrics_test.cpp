#include "prefix_router/metrics/metrics.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>

namespace prefix_router::metrics {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Exposition, OfACounterIsPinned) {
    Registry registry;
    registry.counter("retries_total", "Requests sent a second time.").Increment(3);
    EXPECT_EQ(registry.exposition(),
              "# HELP prefix_router_retries_total Requests sent a second time.\n"
              "# TYPE prefix_router_retries_total counter\n"
              "prefix_router_retries_total 3\n");
}

TEST(Exposition, OfAGaugeWithLabelsIsPinned) {
    Registry registry;
    registry.gauge("in_flight", "Requests at a backend.", {{"backend", "a"}}).Set(2);
    EXPECT_EQ(registry.exposition(),
              "# HELP prefix_router_in_flight Requests at a backend.\n"
              "# TYPE prefix_router_in_flight gauge\n"
              "prefix_router_in_flight{backend=\"a\"} 2\n");
}

TEST(Exposition, OfAHistogramIsPinned) {
    Registry registry;
    constexpr std::array kBuckets{0.5, 1.0};
    auto& histogram = registry.histogram("ttft_seconds", "Time to first token.", kBuckets);
    histogram.Observe(0.5);
    histogram.Observe(0.75);
    histogram.Observe(7);
    EXPECT_EQ(registry.exposition(),
              "# HELP prefix_router_ttft_seconds Time to first token.\n"
              "# TYPE prefix_router_ttft_seconds histogram\n"
              "prefix_router_ttft_seconds_count 3\n"
              "prefix_router_ttft_seconds_sum 8.25\n"
              "prefix_router_ttft_seconds_bucket{le=\"0.5\"} 1\n"
              "prefix_router_ttft_seconds_bucket{le=\"1\"} 2\n"
              "prefix_router_ttft_seconds_bucket{le=\"+Inf\"} 3\n");
}

TEST(Exposition, EscapesLabelValues) {
    Registry registry;
    registry.gauge("backend_info", "URL.", {{"url", "a\"b\\c\nd"}}).Set(1);
    EXPECT_THAT(registry.exposition(), HasSubstr(R"({url="a\"b\\c\nd"} 1)"));
}

TEST(Series, IsTheSameForTheSameNameAndLabels) {
    Registry registry;
    auto& first = registry.counter("requests_total", "Requests.", {{"code", "200"}});
    auto& again = registry.counter("requests_total", "Requests.", {{"code", "200"}});
    auto& other = registry.counter("requests_total", "Requests.", {{"code", "500"}});
    EXPECT_EQ(&first, &again);
    EXPECT_NE(&first, &other);
}

TEST(RemoveBackend, DropsItsSeriesOfEveryKindAndNoOther) {
    Registry registry;
    for (const auto* id : {"a", "ab"}) {
        const Registry::Labels labels{{"backend", id}};
        registry.counter("requests_total", "Requests.", labels).Increment();
        registry.gauge("in_flight", "In flight.", labels).Set(1);
        registry.histogram("ttft_seconds", "TTFT.", latency_buckets(), labels).Observe(1);
    }
    registry.counter("aborts_total", "Aborts.").Increment();
    registry.remove_backend("a");
    const std::string text = registry.exposition();
    EXPECT_THAT(text, Not(HasSubstr("backend=\"a\"")));
    EXPECT_THAT(text, HasSubstr("prefix_router_requests_total{backend=\"ab\"} 1"));
    EXPECT_THAT(text, HasSubstr("prefix_router_in_flight{backend=\"ab\"} 1"));
    EXPECT_THAT(text, HasSubstr("prefix_router_ttft_seconds_count{backend=\"ab\"} 1"));
    EXPECT_THAT(text, HasSubstr("prefix_router_aborts_total 1"));
}

TEST(RemoveBackend, LetsTheIdComeBackFromZero) {
    Registry registry;
    const Registry::Labels labels{{"reason", "x"}, {"backend", "a"}};
    registry.counter("decisions_total", "Decisions.", labels).Increment(5);
    registry.remove_backend("a");
    registry.remove_backend("a");
    registry.counter("decisions_total", "Decisions.", labels).Increment();
    EXPECT_THAT(registry.exposition(),
                HasSubstr("prefix_router_decisions_total{backend=\"a\",reason=\"x\"} 1\n"));
    registry.remove_backend("a");
    EXPECT_THAT(registry.exposition(), Not(HasSubstr("backend=\"a\"")));
}

TEST(Registry, AddsRemovesAndExposesFromManyThreads) {
    constexpr int kThreads = 4;
    constexpr int kRounds = 200;
    Registry registry;
    const auto work = [&registry](int thread) {
        const std::string id = "backend-" + std::to_string(thread);
        auto& total = registry.counter("requests_total", "Requests.");
        for (int round = 0; round < kRounds; ++round) {
            total.Increment();
            registry.gauge("in_flight", "In flight.", {{"backend", id}}).Increment();
            registry.exposition();
            registry.remove_backend(id);
        }
    };
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back(work, thread);
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    const std::string text = registry.exposition();
    EXPECT_THAT(text, HasSubstr("prefix_router_requests_total 800\n"));
    EXPECT_THAT(text, Not(HasSubstr("backend=")));
}

TEST(Buckets, AscendAndCoverTheirRange) {
    for (const auto buckets : {latency_buckets(), decision_buckets()}) {
        EXPECT_TRUE(std::is_sorted(buckets.begin(), buckets.end(), std::less_equal<>{}));
    }
    EXPECT_EQ(latency_buckets().front(), 0.005);
    EXPECT_EQ(latency_buckets().back(), 600.0);
    EXPECT_EQ(decision_buckets().front(), 1e-6);
    EXPECT_EQ(decision_buckets().back(), 1e-2);
}

}  // namespace
}  // namespace prefix_router::metrics
