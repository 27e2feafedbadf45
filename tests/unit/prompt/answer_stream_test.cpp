#include <random>

#include <gtest/gtest.h>

#include "unit/prompt/prompt_samples.hpp"

/// Events that are like the one before are read by comparison. A stream fed byte by byte never has
/// a whole event to compare, so it tells what the comparison must not change.
namespace prefix_router::prompt::test {
namespace {

using Format = AnswerReader::Format;

void expect_same(const AnswerFacts& facts, const AnswerFacts& expected, const std::string& stream) {
    ASSERT_EQ(facts.hashes, expected.hashes) << stream;
    ASSERT_EQ(facts.ends, expected.ends) << stream;
    ASSERT_EQ(facts.has_error_event, expected.has_error_event) << stream;
    ASSERT_EQ(facts.ended_cleanly, expected.ended_cleanly) << stream;
    ASSERT_EQ(facts.usage.prompt_tokens, expected.usage.prompt_tokens) << stream;
    ASSERT_EQ(facts.usage.cached_tokens, expected.usage.cached_tokens) << stream;
    ASSERT_EQ(facts.usage.completion_tokens, expected.usage.completion_tokens) << stream;
}

void expect_like_single_bytes(const RequestFacts& request, const std::string& stream) {
    const AnswerFacts expected = read_answer(request, Format::ServerSentEvents, stream, 1);
    for (const std::size_t piece : {0U, 3U, 7U, 50U, 300U})
        expect_same(read_answer(request, Format::ServerSentEvents, stream, piece), expected,
                    stream);
}

RequestFacts request_of(Dialect dialect) {
    return read(dialect, R"({"input":"q","messages":[{"role":"user","content":"q"}]})");
}

std::string chat_event(const std::string& delta, const std::string& behind = "") {
    return R"(data: {"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":)" +
           delta + R"(,"finish_reason":null}])" + behind + "}\n\n";
}

std::string text_event(const std::string& raw) {
    return chat_event(R"({"content":")" + raw + R"("})");
}

const std::string kStop = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";

TEST(AnswerStream, OfEqualEventsIsReadLikeSingleBytes) {
    const RequestFacts request = request_of(Dialect::OpenAiChat);
    const std::vector<std::string> texts = {
        "Hi",           " you",      "",          R"(\n)", R"(\"a\")", R"(\\)", R"(\/)",
        R"(caf\u00e9)", R"(\ud83d)", R"(\ude00)", "<thi",  "a < b",    "x"};
    std::string stream;
    for (const std::string& text : texts) stream += text_event(text);
    expect_like_single_bytes(request, stream + kStop);
    EXPECT_FALSE(read_answer(request, Format::ServerSentEvents, stream + kStop).hashes.empty());
}

TEST(AnswerStream, SeesWhatInterruptsEqualEvents) {
    const RequestFacts request = request_of(Dialect::OpenAiChat);
    const std::string two = text_event("one") + text_event("two");
    const std::vector<std::string> interruptions = {
        "data: {\"error\":\"x\"}\n\n",
        "event: error\ndata: {}\n\n",
        "event: ping\n\n",
        ": comment\n\n",
        chat_event(R"({"reasoning_content":"hm"})"),
        chat_event(R"({"content":"x","reasoning_content":"hm"})"),
        chat_event(R"({"content":"x"})", R"(,"usage":{"prompt_tokens":7,"completion_tokens":2})"),
        chat_event(R"({"tool_calls":[{"function":{"name":"f","arguments":""}}]})"),
        chat_event(R"({"tool_calls":[{"function":{"arguments":"{}"}}]})"),
        text_event("x</think>"),
        text_event("broken\nline"),
        text_event("broken \\"),
        text_event("broken\r\n\r\nevent"),
        text_event("a\",\"content\":\"b"),
        "data: {\"choices\":[{\"delta\":{\"content\":\"cut short\n\n",
        "data: {\"object\":\"err\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"over two\ndata: lines\"}}]}\n\n",
    };
    for (const std::string& between : interruptions)
        expect_like_single_bytes(request, two + between + two + kStop);
}

TEST(AnswerStream, OfCrlfEventsIsReadLikeSingleBytes) {
    const RequestFacts request = request_of(Dialect::OpenAiChat);
    std::string stream;
    for (const char* text : {"a", "b", "c\\n"})
        stream +=
            R"(data: {"choices":[{"delta":{"content":")" + std::string(text) + "\"}}]}\r\n\r\n";
    expect_like_single_bytes(request, stream + kStop);
}

TEST(AnswerStream, KeepsTheBlocksBeforeThinkHoweverItIsCut) {
    const RequestFacts request = request_of(Dialect::OpenAiChat);
    const std::string before = words(3, 200);
    const std::string nuls(300, '\0');
    for (const std::string& text : {before + "<think>hm</think>", before + "<think>" + nuls,
                                    before + "</think>" + nuls, before + "<think"})
        expect_like_single_bytes(request, text_event(text) + text_event("</think>") + kStop);
    EXPECT_FALSE(read_answer(request, Format::ServerSentEvents,
                             text_event(before + "<think>hm</think>") + kStop)
                     .hashes.empty());
}

TEST(AnswerStream, OfRandomEventsIsReadLikeSingleBytes) {
    std::mt19937 random(5);
    const std::vector<std::pair<Dialect, std::vector<std::string>>> kinds = {
        {Dialect::OpenAiChat,
         {text_event("a"), text_event("b\\n"), chat_event(R"({"reasoning":"r"})"),
          chat_event(R"({"tool_calls":[{"function":{"name":"f","arguments":"{\"a\": "}}]})"),
          chat_event(R"({"tool_calls":[{"function":{"arguments":"{\"a\": "}}]})"),
          chat_event(R"({"tool_calls":[{"function":{"arguments":" 1}"}}]})"),
          chat_event(R"({"content":"u"})", R"(,"usage":{"prompt_tokens":7})"), kStop}},
        {Dialect::AnthropicMessages,
         {"event: ping\ndata: {\"type\":\"ping\"}\n\n",
          "event: d\ndata: {\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\n",
          "event: d\ndata: {\"delta\":{\"type\":\"text_delta\",\"text\":\"b \\\" c\"}}\n\n",
          "event: d\ndata: {\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"b\"}}\n\n",
          "data: {\"content_block\":{\"type\":\"tool_use\",\"name\":\"g\",\"input\":{}}}\n\n",
          "data: {\"delta\":{\"partial_json\":\"{\\\"a\\\":\"}}\n\n",
          "data: {\"delta\":{\"partial_json\":\" 1}\"}}\n\n",
          "data: {\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":3}}\n\n"}},
    };
    for (int round = 0; round < 300; ++round) {
        const auto& [dialect, events] = kinds[random() % kinds.size()];
        std::string stream;
        for (std::size_t n = random() % 20; n > 0; --n) {
            const std::string& event = events[random() % events.size()];
            for (std::size_t copies = 1 + random() % 3; copies > 0; --copies) stream += event;
        }
        if (random() % 3 == 0 && !stream.empty())
            stream[random() % stream.size()] = "\"\\\n\r{}x "[random() % 8];
        expect_like_single_bytes(request_of(dialect), stream + events.back());
        if (HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace prefix_router::prompt::test
