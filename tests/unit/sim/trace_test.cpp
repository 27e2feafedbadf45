#include "prefix_router/sim/trace.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/sim/temporary_file.hpp"

namespace prefix_router::sim {
namespace {

Result<Trace> load(const std::string& text, const TraceOptions& options = {}) {
    return load_trace(TemporaryFile(text).path(), options);
}

std::string row(int timestamp, int input, const std::string& ids, const std::string& more = "") {
    return "{\"timestamp\":" + std::to_string(timestamp) +
           ",\"input_length\":" + std::to_string(input) +
           ",\"output_length\":5,\"hash_ids\":" + ids + more + "}\n";
}

std::vector<std::uint64_t> blocks(const Trace& trace, std::size_t request) {
    const auto ids = trace.prompt_blocks(trace.requests[request]);
    return {ids.begin(), ids.end()};
}

std::string complaint(const std::string& text, const TraceOptions& options = {}) {
    const auto trace = load(text, options);
    return trace ? "" : trace.error().message();
}

void expect_complaint(const std::string& text, const std::string& part) {
    EXPECT_NE(complaint(text).find(part), std::string::npos) << complaint(text);
}

TEST(Trace, ReadsRequestsInOrderOfTime) {
    const auto trace = load(row(3000, 1100, "[7,8]") + row(1000, 600, "[7]"));
    ASSERT_EQ(trace->requests.size(), 2U);
    EXPECT_EQ(trace->block_tokens, 512);
    EXPECT_EQ(trace->requests[0].prompt_tokens, 600);
    EXPECT_EQ(trace->requests[1].arrival, 2.0);
    EXPECT_EQ(trace->requests[1].output_tokens, 5);
    EXPECT_FALSE(trace->has_sessions);
}

TEST(Trace, ABlockThatClaimsToBeHugeIsNoLongerThanItsPrompt) {
    const auto trace = load("{\"version\":1,\"block_size\":1}\n" +
                            row(0, 10, "[7,8]", ",\"block_tokens\":[1000000000,1]"));
    ASSERT_TRUE(trace) << trace.error().message();
    EXPECT_EQ(trace->requests[0].block_count, 10U);
}

TEST(Trace, KeepsOnlyWhatCameBeforeAGivenTime) {
    const std::string text = row(1000, 600, "[7]", ",\"session\":\"a\"") +
                             row(2500, 600, "[7]", ",\"session\":\"a\"") +
                             row(3000, 600, "[7]", ",\"session\":\"a\"");
    TraceOptions options;
    options.until = 2;
    const auto trace = load(text, options);
    ASSERT_EQ(trace->requests.size(), 2U);
    EXPECT_EQ(trace->requests[0].next_turn, 1U);
    EXPECT_EQ(trace->requests[1].next_turn, TraceRequest::kNoTurn);
}

TEST(Trace, CountsOnlyBlocksWhollyInsideThePrompt) {
    const auto trace = load(row(0, 1100, "[1,2,3]"));
    EXPECT_EQ(trace->requests[0].block_count, 2U);
}

TEST(Trace, TakesTheBlockSizeFromTheHeaderUnlessItIsOverridden) {
    const std::string text = "{\"version\":1,\"block_size\":64}\n" + row(0, 130, "[1,2,3]");
    EXPECT_EQ(load(text)->block_tokens, 64);
    EXPECT_EQ(load(text)->requests[0].block_count, 2U);
    TraceOptions options;
    options.block_tokens = 100;
    EXPECT_EQ(load(text, options)->requests[0].block_count, 1U);
}

TEST(Trace, GivesEqualPrefixesEqualIdsAndOthersNot) {
    const auto trace = load(row(0, 2000, "[5,6]") + row(1, 2000, "[5,9]") + row(2, 2000, "[9,6]"));
    EXPECT_EQ(blocks(*trace, 0), (std::vector<std::uint64_t>{0, 1}));
    EXPECT_EQ(blocks(*trace, 1), (std::vector<std::uint64_t>{0, 2}));
    EXPECT_EQ(blocks(*trace, 2), (std::vector<std::uint64_t>{3, 4}))
        << "6 after 9 is not 6 after 5";
    EXPECT_EQ(trace->recorded_ids, (std::vector<std::uint64_t>{5, 6, 9, 9, 6}));
}

TEST(Trace, TakesBlockIdsAsStringsToo) {
    const auto trace = load(row(0, 2000, R"(["a","b"])") + row(1, 2000, R"(["a",3])"));
    EXPECT_EQ(blocks(*trace, 0)[0], blocks(*trace, 1)[0]);
    EXPECT_NE(blocks(*trace, 0)[1], blocks(*trace, 1)[1]);
}

TEST(Trace, SpreadsEqualStampsUntilTheNext) {
    std::string text;
    for (int k = 0; k < 3; ++k) text += row(0, 10, "[]");
    text += row(3000, 10, "[]");
    for (int k = 0; k < 2; ++k) text += row(20'000, 10, "[]");
    for (int k = 0; k < 2; ++k) text += row(60'000, 10, "[]");
    const auto trace = load(text);
    std::vector<double> times;
    for (const TraceRequest& request : trace->requests) times.push_back(request.arrival);
    EXPECT_EQ(times, (std::vector<double>{0, 1, 2, 3, 20, 22.5, 60, 61.5}))
        << "over 5 s at most, and over 3 s at the end";
}

TEST(Trace, LinksTheTurnsOfASession) {
    const auto trace = load(row(0, 600, "[1]", R"(,"session":"a")") +
                            row(1, 600, "[2]", R"(,"session":"b","think":9)") +
                            row(2, 1100, "[1,3]", R"(,"session":"a","think":2.5)"));
    EXPECT_TRUE(trace->has_sessions);
    EXPECT_TRUE(trace->requests[0].opens_session);
    EXPECT_TRUE(trace->requests[1].opens_session);
    EXPECT_FALSE(trace->requests[2].opens_session);
    EXPECT_EQ(trace->requests[0].next_turn, 2U);
    EXPECT_EQ(trace->requests[1].next_turn, TraceRequest::kNoTurn);
    EXPECT_EQ(trace->requests[2].think, 2.5);
}

TEST(Trace, FindsTheAnswerInTheNextTurnsPrompt) {
    TraceOptions options;
    options.cache_answers = true;
    // 600 tokens and an answer of 1,000 make 3 whole blocks: the answer is blocks 2 and 3.
    const std::string first =
        R"({"timestamp":0,"input_length":600,"output_length":1000,"hash_ids":[1],"session":"a"})";
    const std::string text = first + "\n" + row(9000, 2600, "[1,2,3,4,5]", R"(,"session":"a")");
    const auto trace = load(text, options);
    const auto answer = trace->answer_blocks(trace->requests[0]);
    EXPECT_EQ(std::vector(answer.begin(), answer.end()), (std::vector<std::uint64_t>{1, 2}));
    EXPECT_TRUE(trace->answer_blocks(trace->requests[1]).empty());
    EXPECT_TRUE(load(text)->answer_blocks(load(text)->requests[0]).empty()) << "off unless asked";
}

TEST(Trace, KeepsSessionsByTheHashOfSeedAndName) {
    std::string text;
    for (const char* name : {"a", "b", "c", "d", "e"}) {
        text += row(0, 600, "[1]", ",\"session\":\"" + std::string(name) + "\"");
    }
    TraceOptions options;
    options.sessions = 2;
    // By SHA-256 of "1:a" and so on the order is d a e b c; with seed 2 it is c e d a b.
    EXPECT_EQ(load(text, options)->requests.size(), 2U);
    text += row(1, 600, "[1]", R"(,"session":"d")") + row(2, 600, "[1]", R"(,"session":"c")");
    EXPECT_EQ(load(text, options)->requests.size(), 3U);
    options.seed = 2;
    EXPECT_EQ(load(text, options)->requests.size(), 3U);
    options.sessions = 1;
    EXPECT_EQ(load(text, options)->requests.size(), 2U);
    options.sessions = 9;
    EXPECT_EQ(load(text, options)->requests.size(), 7U);
}

TEST(Trace, RefusesASessionSubsetOfATraceWithoutSessions) {
    TraceOptions options;
    options.sessions = 2;
    EXPECT_NE(complaint(row(0, 1, "[]"), options).find("session"), std::string::npos);
}

TEST(Trace, CutsBlocksOfUnequalSizeIntoEqualOnes) {
    const std::string header = "{\"version\":1,\"block_size\":64}\n";
    const auto trace = load(header + row(0, 1000, "[1,2]", R"(,"block_tokens":[100,156])") +
                            row(1, 1000, "[1,3]", R"(,"block_tokens":[100,156])") +
                            row(2, 220, "[1,2]", R"(,"block_tokens":[90,156])"));
    EXPECT_EQ(trace->requests[0].block_count, 4U);
    EXPECT_EQ(blocks(*trace, 0)[0], blocks(*trace, 1)[0]) << "ends inside the shared 100 tokens";
    EXPECT_NE(blocks(*trace, 0)[1], blocks(*trace, 1)[1]);
    EXPECT_EQ(blocks(*trace, 2), (std::vector<std::uint64_t>{0, 1, 2}))
        << "a later estimate of a block's size does not tear the prefix apart";
}

TEST(Trace, NamesFileAndLineOfAMistake) {
    const std::string good = row(0, 10, "[]");
    expect_complaint(good + "nonsense\n", ".jsonl:2: not valid JSON");
    expect_complaint(good + "\n[1]\n", ":3: not a JSON object");
    expect_complaint(good + "{\"timestamp\":1}\n", ":2: 'hash_ids' is missing");
    expect_complaint(R"({"hash_ids":[],"timestamp":1,"input_length":3})",
                     "'output_length' is missing");
    expect_complaint(R"({"hash_ids":[],"timestamp":"x"})", ":1: 'timestamp' is not a number");
    expect_complaint(row(0, -1, "[]"), "'input_length' is out of range: -1");
    expect_complaint(row(0, 1, "[1.5]"), "neither an integer nor a string");
    expect_complaint(row(0, 1, "7"), "'hash_ids' is not a list");
    expect_complaint(row(0, 1, "[1,2]", R"(,"block_tokens":[1])"), "'block_tokens'");
    expect_complaint(row(0, 1, "[1]", R"(,"block_tokens":[0])"), "'block_tokens'");
    expect_complaint("{\"version\":2}\n" + good, ":1: trace version 2 is not known");
    expect_complaint("{\"block_size\":0}\n" + good, "'block_size' is out of range");
}

TEST(Trace, RefusesAFileWithoutRequests) {
    expect_complaint("", "holds no request");
    expect_complaint("{\"version\":1}\n", "holds no request");
}

}  // namespace
}  // namespace prefix_router::sim
