#include "prefix_router/sim/trace_writer.hpp"

#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "prefix_router/sim/trace.hpp"

#include "unit/sim/temporary_file.hpp"

namespace prefix_router::sim {
namespace {

using namespace std::chrono_literals;

prompt::PromptKey key(std::vector<std::uint64_t> hashes, std::vector<std::uint32_t> ends) {
    prompt::PromptKey result;
    result.hashes = std::move(hashes);
    result.ends = std::move(ends);
    result.total = result.ends.empty() ? 0 : result.ends.back();
    return result;
}

TraceWriter::Entry entry(std::chrono::milliseconds arrived, Tokens prompt, Tokens output) {
    return {arrived, arrived + 500ms, prompt, output, 4.0};
}

std::unique_ptr<TraceWriter> open(const std::string& path, std::size_t max_bytes = 1 << 20) {
    TraceWriter::Options options;
    options.path = path;
    options.max_bytes = max_bytes;
    options.kept_files = 2;
    options.salt.fill(7);
    auto opened = TraceWriter::open(options);
    return std::move(*opened);
}

std::string content(const std::string& path) {
    std::ostringstream out;
    out << std::ifstream(path).rdbuf();
    return out.str();
}

TEST(TraceWriter, WritesWhatTheReplayReads) {
    const TemporaryFile file;
    {
        const auto writer = open(file.path());
        // 256 and 512 bytes at 4 bytes a token: blocks of 64 and 64 tokens; then 128 more.
        ASSERT_TRUE(writer->record(key({11, 12}, {256, 512}), entry(1'000ms, 130, 20)));
        ASSERT_TRUE(writer->record(key({11, 12, 13}, {256, 512, 1024}), entry(4'000ms, 260, 30)));
        ASSERT_TRUE(writer->record(key({21}, {256}), entry(5'000ms, 70, 40)));
    }
    const auto trace = load_trace(file.path(), {});
    ASSERT_TRUE(trace) << trace.error().message();
    EXPECT_EQ(trace->block_tokens, 64);
    ASSERT_EQ(trace->requests.size(), 3U);
    EXPECT_EQ(trace->requests[0].block_count, 2U);
    EXPECT_EQ(trace->requests[1].block_count, 4U);
    EXPECT_EQ(trace->requests[1].prompt_tokens, 260);
    EXPECT_EQ(trace->requests[1].output_tokens, 30);
    EXPECT_EQ(trace->requests[1].arrival, 3.0);
    EXPECT_EQ(trace->requests[1].think, 2.5);
    EXPECT_EQ(trace->requests[0].next_turn, 1U);
    EXPECT_TRUE(trace->requests[2].opens_session);
    EXPECT_EQ(trace->prompt_blocks(trace->requests[0])[1],
              trace->prompt_blocks(trace->requests[1])[1]);
}

TEST(TraceWriter, WritesSaltedHashesOnly) {
    const TemporaryFile file;
    {
        ASSERT_TRUE(open(file.path())->record(key({123'456'789}, {256}), entry(0ms, 64, 1)));
    }
    EXPECT_EQ(content(file.path()).find("123456789"), std::string::npos);
    EXPECT_EQ(content(file.path()).find("\"version\":1"), 1U);
}

TEST(TraceWriter, FieldsBehindTheMessagesDoNotEndASession) {
    const TemporaryFile file;
    {
        const auto writer = open(file.path());
        prompt::PromptKey first = key({11, 12, 90}, {256, 512, 600});
        first.history.blocks = 2;
        prompt::PromptKey second = key({11, 12, 13, 91}, {256, 512, 1024, 1100});
        second.history.blocks = 3;
        ASSERT_TRUE(writer->record(first, entry(0ms, 150, 1)));
        ASSERT_TRUE(writer->record(second, entry(9'000ms, 275, 1)));
    }
    EXPECT_EQ(load_trace(file.path(), {})->requests[0].next_turn, 1U);
}

TEST(TraceWriter, RotatesBySizeAndKeepsSoManyFiles) {
    const TemporaryFile file;
    {
        const auto writer = open(file.path(), 2'000);
        for (std::uint64_t k = 0; k < 60; ++k) {
            ASSERT_TRUE(writer->record(key({k}, {256}), entry(1s * k, 64, 1)));
        }
    }
    struct stat status{};
    for (const char* suffix : {"", ".1", ".2"}) {
        const std::string path = file.path() + suffix;
        ASSERT_EQ(stat(path.c_str(), &status), 0) << path;
        EXPECT_LT(status.st_size, 2'300);
        EXPECT_EQ(content(path).rfind("{\"version\":1", 0), 0U);
        EXPECT_EQ(content(path).back(), '\n');
    }
    EXPECT_NE(stat((file.path() + ".3").c_str(), &status), 0);
    EXPECT_TRUE(load_trace(file.path() + ".1", {}));
    std::remove((file.path() + ".1").c_str());
    std::remove((file.path() + ".2").c_str());
}

TEST(TraceWriter, AppendsToAnEarlierRun) {
    const TemporaryFile file;
    for (int run = 0; run < 2; ++run) {
        ASSERT_TRUE(open(file.path())->record(key({5}, {256}), entry(1s * run, 64, 1)));
    }
    EXPECT_EQ(load_trace(file.path(), {})->requests.size(), 2U);
}

TEST(TraceWriter, RequestsWithoutAKeyHaveNoBlocks) {
    const TemporaryFile file;
    {
        ASSERT_TRUE(open(file.path())->record({}, entry(0ms, 100, 1)));
    }
    EXPECT_EQ(load_trace(file.path(), {})->requests[0].block_count, 0U);
}

TEST(TraceWriter, SaysThatItCannotWrite) {
    TraceWriter::Options options;
    options.path = "/nowhere/trace.jsonl";
    const auto writer = TraceWriter::open(options);
    ASSERT_FALSE(writer);
    EXPECT_EQ(writer.error().kind(), ErrorKind::Io);
    EXPECT_NE(writer.error().message().find("/nowhere/trace.jsonl"), std::string::npos);
}

}  // namespace
}  // namespace prefix_router::sim
