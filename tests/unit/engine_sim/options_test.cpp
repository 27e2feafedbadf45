#include "engine_sim/options.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace prefix_router::engine_sim {
namespace {

ParsedCommandLine parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "engine-sim");
    return parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

TEST(Options, HaveBlocksOf16TokensAndNoHabitsByDefault) {
    const ParsedCommandLine parsed = parse({});
    ASSERT_TRUE(parsed.run);
    EXPECT_EQ(parsed.options.engine.block_tokens, 16);
    EXPECT_FALSE(parsed.options.habits.close_after_stream);
    EXPECT_TRUE(parsed.options.habits.abort_non_streaming);
    EXPECT_TRUE(parsed.options.habits.tells_capacity);
    EXPECT_EQ(parsed.options.habits.idle_close_seconds, 0);
    EXPECT_EQ(parsed.options.habits.error_event_rate, 0);
    EXPECT_EQ(parsed.options.habits.die_mid_stream_rate, 0);
    EXPECT_FALSE(parsed.options.engine.max_waiting);
}

TEST(Options, TakeSeveralPortsAndModels) {
    const ParsedCommandLine parsed = parse({"--port", "8101,8102", "--model", "a,b"});
    EXPECT_EQ(parsed.options.ports, (std::vector<std::uint16_t>{8101, 8102}));
    EXPECT_EQ(parsed.options.models, (std::vector<std::string>{"a", "b"}));
}

TEST(Options, ReachTheEngine) {
    const ParsedCommandLine parsed = parse({"--kv-tokens",
                                            "1000",
                                            "--prefill-rate",
                                            "5",
                                            "--overhead",
                                            "0.5",
                                            "--decode-rate",
                                            "7",
                                            "--slots",
                                            "3",
                                            "--interleave",
                                            "4",
                                            "--lanes",
                                            "2",
                                            "--attention-length",
                                            "32000",
                                            "--max-queued",
                                            "9",
                                            "--no-abort-non-streaming",
                                            "--hide-capacity"});
    ASSERT_TRUE(parsed.run);
    const sim::EngineOptions& engine = parsed.options.engine;
    EXPECT_EQ(engine.kv_tokens, 1000);
    EXPECT_EQ(engine.prefill_rate, 5);
    EXPECT_EQ(engine.overhead, 0.5);
    EXPECT_EQ(engine.decode_rate, 7);
    EXPECT_EQ(engine.slots, 3U);
    EXPECT_EQ(engine.interleave, 4U);
    EXPECT_EQ(engine.lanes, 2U);
    EXPECT_EQ(engine.attention_length, 32000);
    EXPECT_EQ(engine.max_waiting, 9U);
    EXPECT_FALSE(parsed.options.habits.abort_non_streaming);
    EXPECT_FALSE(parsed.options.habits.tells_capacity);
}

TEST(Options, RefuseNonsenseWithExitCode2) {
    EXPECT_EQ(parse({"--prefill-rate", "0"}).exit_code, 2);
    EXPECT_EQ(parse({"--port", "70000"}).exit_code, 2);
    EXPECT_EQ(parse({"--no-such-option"}).exit_code, 2);
    EXPECT_FALSE(parse({"--slots", "0"}).run);
}

TEST(Options, HelpIsNotAnError) {
    const ParsedCommandLine parsed = parse({"--help"});
    EXPECT_FALSE(parsed.run);
    EXPECT_EQ(parsed.exit_code, 0);
}

}  // namespace
}  // namespace prefix_router::engine_sim
