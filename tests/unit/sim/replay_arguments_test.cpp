#include "sim/replay_arguments.hpp"

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace prefix_router::sim {
namespace {

std::optional<ReplayArguments> parse(std::vector<const char*> words) {
    words.insert(words.begin(), {"--trace", "x.jsonl"});
    testing::internal::CaptureStderr();
    auto parsed = parse_replay_arguments(words);
    const std::string complaint = testing::internal::GetCapturedStderr();
    if (auto* arguments = std::get_if<ReplayArguments>(&parsed)) {
        EXPECT_EQ(complaint, "");
        return std::move(*arguments);
    }
    EXPECT_EQ(std::get<ReplayExit>(parsed).code, 2);
    EXPECT_NE(complaint, "");
    return std::nullopt;
}

TEST(ReplayArguments, HaveTheDocumentedDefaults) {
    const auto arguments = parse({});
    const ReplayOptions& options = arguments->options;
    EXPECT_EQ(arguments->trace_path, "x.jsonl");
    EXPECT_EQ(options.backends, 8U);
    EXPECT_EQ(options.engine.kv_tokens, 500'000);
    EXPECT_EQ(options.engine.prefill_rate, 8'000);
    EXPECT_EQ(options.engine.overhead, 0.03);
    EXPECT_EQ(options.engine.decode_rate, 40);
    EXPECT_EQ(options.engine.slots, 64U);
    EXPECT_EQ(options.capacity.kind, CapacityBelief::Kind::Known);
    EXPECT_EQ(options.routing.hold, std::chrono::milliseconds(0)) << "auto";
    EXPECT_FALSE(options.load);
    EXPECT_EQ(options.speed, 1);
}

TEST(ReplayArguments, ReadEveryOption) {
    const auto arguments = parse({"--trace-block",
                                  "64",
                                  "--strategy",
                                  "adaptive,rival_blend",
                                  "--backends",
                                  "3",
                                  "--kv-tokens",
                                  "2000000",
                                  "--prefill-rate",
                                  "16000",
                                  "--overhead",
                                  "10ms",
                                  "--decode-rate",
                                  "20",
                                  "--slots",
                                  "8",
                                  "--load",
                                  "0.7",
                                  "--closed-loop",
                                  "--sessions",
                                  "90",
                                  "--attention-length",
                                  "32000",
                                  "--interleave",
                                  "4",
                                  "--speeds",
                                  "1,0.5,2",
                                  "--capacity",
                                  "0.3",
                                  "--hold",
                                  "250ms",
                                  "--lanes",
                                  "2",
                                  "--decode-cache",
                                  "--seed",
                                  "3",
                                  "--json",
                                  "--html",
                                  "out.html"});
    const ReplayOptions& options = arguments->options;
    EXPECT_EQ(arguments->trace.block_tokens, 64);
    EXPECT_EQ(options.strategies, (std::vector<std::string>{"adaptive", "rival_blend"}));
    EXPECT_EQ(options.backends, 3U);
    EXPECT_EQ(options.engine.kv_tokens, 2'000'000);
    EXPECT_EQ(options.engine.prefill_rate, 16'000);
    EXPECT_EQ(options.engine.overhead, 0.01);
    EXPECT_EQ(options.engine.decode_rate, 20);
    EXPECT_EQ(options.engine.slots, 8U);
    EXPECT_EQ(options.load, 0.7);
    EXPECT_TRUE(options.closed_loop);
    EXPECT_EQ(arguments->trace.sessions, 90U);
    EXPECT_EQ(options.engine.attention_length, 32'000);
    EXPECT_EQ(options.engine.interleave, 4U);
    EXPECT_EQ(options.speeds, (std::vector<double>{1, 0.5, 2}));
    EXPECT_EQ(options.capacity.kind, CapacityBelief::Kind::Factor);
    EXPECT_EQ(options.capacity.factor, 0.3);
    EXPECT_EQ(options.routing.hold, std::chrono::milliseconds(250));
    EXPECT_EQ(options.engine.lanes, 2U);
    EXPECT_TRUE(arguments->trace.cache_answers);
    EXPECT_EQ(options.seed, 3U);
    EXPECT_EQ(arguments->trace.seed, 3U);
    EXPECT_TRUE(arguments->json);
    EXPECT_EQ(arguments->html_path, "out.html");
}

TEST(ReplayArguments, ReadTheOptionsOfTimeAndOfTheStrategies) {
    const auto arguments =
        parse({"--speed", "2.5", "--until", "600s", "--hold-small", "500ms", "--hold-age", "0.25",
               "--prefix-length", "4096", "--concurrency-threshold", "7"});
    const ReplayOptions& options = arguments->options;
    EXPECT_EQ(options.speed, 2.5);
    EXPECT_EQ(arguments->trace.until, 600);
    EXPECT_EQ(options.routing.hold_small, std::chrono::milliseconds(500));
    EXPECT_EQ(options.routing.hold_age, 0.25);
    EXPECT_EQ(options.routing.prefix_length, 4096U);
    EXPECT_EQ(options.routing.concurrency_threshold, 7U);
}

TEST(ReplayArguments, KnowOffLearnedAndAll) {
    const auto arguments = parse({"--hold", "off", "--capacity", "learned", "--strategy", "all"});
    EXPECT_FALSE(arguments->options.routing.hold);
    EXPECT_EQ(arguments->options.capacity.kind, CapacityBelief::Kind::Learned);
    EXPECT_EQ(arguments->options.strategies, known_strategies());
    EXPECT_EQ(known_strategies().size(), 11U);
}

TEST(ReplayArguments, RefuseWhatMakesNoSense) {
    EXPECT_FALSE(parse({"--strategy", "adaptif"}));
    EXPECT_FALSE(parse({"--speeds", "1,2"}));
    EXPECT_FALSE(parse({"--hold", "soon"}));
    EXPECT_FALSE(parse({"--hold", "0s"}));
    EXPECT_FALSE(parse({"--hold", "0.4ms"}));
    EXPECT_FALSE(parse({"--overhead", "-3ms"}));
    EXPECT_FALSE(parse({"--capacity", "0"}));
    EXPECT_FALSE(parse({"--load", "0.5", "--speed", "2"}));
    EXPECT_FALSE(parse({"--backends", "0"}));
    EXPECT_FALSE(parse({"--unknown"}));
}

}  // namespace
}  // namespace prefix_router::sim
