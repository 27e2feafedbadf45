// Whole replays of a small chat-like trace (oracle/chat.jsonl.xz: 900 requests, 12 tenants,
// sessions) against the reference simulator's record of the same, and what must hold between
// strategies.

#include "prefix_router/sim/replay.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "prefix_router/base/random.hpp"

namespace prefix_router::sim {
namespace {

const Trace& chat() {
    static const Trace trace = load_trace(PREFIX_ROUTER_SIM_TEST_DATA "/chat.jsonl.xz", {}).value();
    return trace;
}

/// Four small engines, as the record has them.
ReplayOptions small_fleet() {
    ReplayOptions options;
    options.backends = 4;
    options.engine.kv_tokens = 40'000;
    options.engine.prefill_rate = 4'000;
    options.engine.slots = 24;
    options.load = 0.85;
    return options;
}

ReplayOptions small_closed_fleet() {
    ReplayOptions options = small_fleet();
    options.load.reset();
    options.speed = 2;
    options.closed_loop = true;
    return options;
}

/// The reference's hit ratios and mean TTFT over five seeds of its ties.
struct Recorded {
    const char* strategy;
    bool is_closed_loop;
    double hit_low;
    double hit_high;
    double mean_low;
    double mean_high;
};

class ReplayOracle : public testing::TestWithParam<Recorded> {};

TEST_P(ReplayOracle, AgreesWithTheReference) {
    const Recorded& recorded = GetParam();
    const ReplayOptions options = recorded.is_closed_loop ? small_closed_fleet() : small_fleet();
    const auto result = replay(chat(), options, recorded.strategy);
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_NEAR(result->bound_infinite, 0.8192, 5e-5);
    EXPECT_NEAR(result->bound_lru, 0.7858, 5e-5);
    // Without ties in the reference there is one right answer.
    const bool is_exact = recorded.mean_low == recorded.mean_high;
    const double hit_margin = is_exact ? 5e-4 : 0.04;
    const double mean_margin = is_exact ? 5e-4 : 0.1;
    EXPECT_GE(result->token_hit_ratio, recorded.hit_low - hit_margin);
    EXPECT_LE(result->token_hit_ratio, recorded.hit_high + hit_margin);
    EXPECT_GE(result->ttft_mean, recorded.mean_low * (1 - mean_margin));
    EXPECT_LE(result->ttft_mean, recorded.mean_high * (1 + mean_margin));
}

INSTANTIATE_TEST_SUITE_P(
    Records, ReplayOracle,
    testing::Values(Recorded{"rival_cache_aware", false, 0.7665, 0.7665, 3.1841, 3.1841},
                    Recorded{"rival_blend", false, 0.7368, 0.7368, 1.5884, 1.5884},
                    Recorded{"rival_sticky", false, 0.7273, 0.7386, 1.5761, 2.1962},
                    Recorded{"rival_bounded_hash", false, 0.7277, 0.7277, 3.6834, 3.6834},
                    Recorded{"rival_product", false, 0.6808, 0.6808, 8.3819, 8.3819},
                    Recorded{"rival_kv_router", false, 0.7129, 0.7129, 3.0447, 3.0447},
                    Recorded{"rival_cache_aware", true, 0.8281, 0.8281, 0.1976, 0.1976},
                    Recorded{"rival_blend", true, 0.8263, 0.8263, 0.2050, 0.2051},
                    Recorded{"rival_sticky", true, 0.8154, 0.8247, 0.2023, 0.2106},
                    Recorded{"rival_bounded_hash", true, 0.7733, 0.7733, 0.2840, 0.2840},
                    Recorded{"rival_product", true, 0.7890, 0.8096, 0.2104, 0.2305},
                    Recorded{"rival_kv_router", true, 0.6664, 0.7183, 0.3314, 0.4042},
                    Recorded{"round_robin", false, 0.5184, 0.5184, 24.3053, 24.3053},
                    Recorded{"round_robin", true, 0.5608, 0.5608, 0.5381, 0.5381},
                    Recorded{"random", false, 0.5155, 0.5386, 22.9598, 24.2253},
                    Recorded{"least_outstanding_requests", false, 0.5047, 0.5362, 22.5992,
                             25.7394}),
    [](const auto& each) {
        return std::string(each.param.strategy) + (each.param.is_closed_loop ? "_closed" : "_open");
    });

double mean_ttft(const Trace& trace, const ReplayOptions& options, const char* strategy) {
    return replay(trace, options, strategy).value().ttft_mean;
}

TEST(Replay, AdaptiveSentAtOnceIsAtLeastAsGoodAsTheReferences) {
    ReplayOptions options = small_fleet();
    options.routing.hold.reset();
    const auto result = replay(chat(), options, "adaptive").value();
    EXPECT_LE(result.ttft_mean, 1.3851 * 1.1);
    EXPECT_GE(result.token_hit_ratio, 0.7418 - 0.02);
    EXPECT_EQ(result.held, 0U);
}

TEST(Replay, AdaptiveBeatsEveryOtherStrategyAndRival) {
    const double adaptive = mean_ttft(chat(), small_fleet(), "adaptive");
    for (const std::string& name : known_strategies()) {
        EXPECT_LE(adaptive, mean_ttft(chat(), small_fleet(), name.c_str()) * 1.001) << name;
    }
}

TEST(Replay, TheQueueShortensTheMeanUnderLoad) {
    ReplayOptions at_once = small_fleet();
    at_once.routing.hold.reset();
    const auto queued = replay(chat(), small_fleet(), "adaptive").value();
    EXPECT_GT(queued.held, 0U);
    EXPECT_LT(queued.ttft_mean, mean_ttft(chat(), at_once, "adaptive"));
}

/// Prompts of 1,000 to 9,000 tokens that share nothing.
Trace unrelated_prompts() {
    Random random(3);
    Trace trace;
    trace.name = "unrelated";
    Seconds now = 0;
    for (std::uint64_t k = 0; k < 2'000; ++k) {
        TraceRequest request;
        request.arrival = now;
        now += -0.1 * std::log(1 - random.unit());
        request.prompt_tokens = static_cast<Tokens>(1'000 + random.below(8'000));
        request.output_tokens = static_cast<Tokens>(1 + random.below(400));
        request.first_block = trace.blocks.size();
        request.block_count = static_cast<std::size_t>(request.prompt_tokens / trace.block_tokens);
        for (std::size_t block = 0; block < request.block_count; ++block) {
            trace.blocks.push_back(trace.recorded_ids.size());
            trace.recorded_ids.push_back(trace.recorded_ids.size());
        }
        trace.requests.push_back(request);
    }
    return trace;
}

TEST(Replay, PromptsWithNothingInCommonDoAsWellAsUnderLeastOutstandingRequests) {
    const Trace trace = unrelated_prompts();
    for (const double load : {0.5, 0.85}) {
        ReplayOptions options;
        options.load = load;
        const double least = mean_ttft(trace, options, "least_outstanding_requests");
        EXPECT_LE(mean_ttft(trace, options, "adaptive"), 1.02 * least) << "load " << load;
        options.routing.hold.reset();
        EXPECT_LE(mean_ttft(trace, options, "adaptive"), 1.02 * least) << "sent at once " << load;
    }
}

TEST(Replay, IsDeterministic) {
    const auto once = replay(chat(), small_fleet(), "adaptive").value();
    const auto again = replay(chat(), small_fleet(), "adaptive").value();
    EXPECT_EQ(once.ttft, again.ttft);
    EXPECT_EQ(once.span, again.span);
}

TEST(Replay, ALearnedCapacityIsCloseToTheKnownOne) {
    ReplayOptions options = small_fleet();
    const double known = mean_ttft(chat(), options, "adaptive");
    options.capacity = {CapacityBelief::Kind::Learned, 1};
    EXPECT_LE(mean_ttft(chat(), options, "adaptive"), 1.25 * known);
}

TEST(Replay, WhatIsExpectedToBeCachedIsFoundWhereCapacitiesAreTold) {
    ReplayOptions options = small_fleet();
    options.engine.kv_tokens = 80'000;
    for (const auto kind : {CapacityBelief::Kind::Known, CapacityBelief::Kind::Told}) {
        options.capacity = {kind, 1};
        const auto result = replay(chat(), options, "adaptive").value();
        EXPECT_NEAR(result.expected_over_found.value(), 1, 0.02);
    }
    EXPECT_FALSE(replay(chat(), options, "rival_blend").value().expected_over_found);
}

/// The requests in flight here use three quarters of the memory: a belief in between, too, must not
/// send them away for lack of it.
TEST(Replay, ACapacityBelievedTooSmallCostsAtMostAsMuchAgain) {
    ReplayOptions options = small_fleet();
    ReplayOptions at_once = options;
    at_once.routing.hold.reset();
    const double known = mean_ttft(chat(), options, "adaptive");
    const double known_at_once = mean_ttft(chat(), at_once, "adaptive");
    for (const double factor : {0.3, 0.5, 0.7}) {
        options.capacity = at_once.capacity = {CapacityBelief::Kind::Factor, factor};
        EXPECT_LE(mean_ttft(chat(), options, "adaptive"), 2 * known) << factor;
        EXPECT_LE(mean_ttft(chat(), at_once, "adaptive"), 2 * known_at_once) << factor;
    }
}

TEST(Replay, CountsWorkAndLoadOfEveryBackend) {
    const auto result = replay(chat(), small_fleet(), "round_robin").value();
    ASSERT_EQ(result.load.size(), 4U);
    double most = 0;
    double total = 0;
    for (const auto& buckets : result.load) {
        double sum = 0;
        for (const double work : buckets) sum += work;
        most = std::max(most, sum);
        total += sum;
    }
    EXPECT_NEAR(result.work_max_over_mean, most / (total / 4), 1e-9);
    EXPECT_EQ(result.requests, 900U);
    EXPECT_EQ(result.ttft.size(), 810U) << "the first tenth warms up";
}

TEST(Replay, SaysWhenARequestCannotFit) {
    ReplayOptions options = small_fleet();
    options.engine.kv_tokens = 1'000;
    const auto result = replay(chat(), options, "random");
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().message().find("--kv-tokens"), std::string::npos);
}

TEST(Replay, ReportsItsProgress) {
    double last = 0;
    ASSERT_TRUE(replay(chat(), small_fleet(), "random", [&](double share) {
        EXPECT_GE(share, last);
        EXPECT_LE(share, 1);
        last = share;
    }));
    EXPECT_GT(last, 0.5);
}

}  // namespace
}  // namespace prefix_router::sim
