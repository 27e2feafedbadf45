#include "engine_sim/answer_format.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine_sim/conversation.hpp"

namespace prefix_router::engine_sim {
namespace {

const Usage kUsage{100, 8, 32};

std::unique_ptr<AnswerFormat> format_of(Api api, bool include_usage = false) {
    ApiRequest request;
    request.api = api;
    request.include_usage = include_usage;
    AnswerName name;
    name.id = "id-1";
    name.model = "a \"model\"";
    name.created = 1234;
    return make_answer_format(request, name);
}

// A whole stream of one choice: "abcd", then "efgh".
std::string stream_of(const AnswerFormat& format) {
    return format.opening(kUsage) + format.start(0) + format.delta(0, "abcd") +
           format.delta(0, "efgh") + format.close(0, "abcdefgh") +
           format.ending({"abcdefgh"}, kUsage);
}

std::vector<Json> events_of(const std::string& stream) {
    std::vector<Json> events;
    for (std::size_t at = 0; (at = stream.find("data: ", at)) != std::string::npos;) {
        const std::size_t end = stream.find("\n\n", at);
        const std::string data = stream.substr(at + 6, end - at - 6);
        if (data != "[DONE]") events.push_back(Json::parse(data));
        at = end;
    }
    return events;
}

TEST(ChatFormat, ReportsCachedTokensInTheWholeAnswer) {
    const Json body = Json::parse(format_of(Api::ChatCompletions)->whole({"abcd"}, kUsage));
    EXPECT_EQ(body["object"], "chat.completion");
    EXPECT_EQ(body["model"], "a \"model\"");
    EXPECT_EQ(body["choices"][0]["message"]["content"], "abcd");
    EXPECT_EQ(body["choices"][0]["finish_reason"], "stop");
    EXPECT_EQ(body["usage"]["prompt_tokens"], 100);
    EXPECT_EQ(body["usage"]["total_tokens"], 108);
    EXPECT_EQ(body["usage"]["prompt_tokens_details"]["cached_tokens"], 32);
}

TEST(ChatFormat, StreamsDeltasThenStopThenDone) {
    const std::string stream = stream_of(*format_of(Api::ChatCompletions));
    std::string text;
    for (const Json& event : events_of(stream)) {
        EXPECT_EQ(event["model"], "a \"model\"");
        EXPECT_FALSE(event.contains("usage"));
        text += event["choices"][0]["delta"].value("content", "");
    }
    EXPECT_EQ(text, "abcdefgh");
    EXPECT_EQ(events_of(stream).back()["choices"][0]["finish_reason"], "stop");
    EXPECT_TRUE(stream.ends_with("data: [DONE]\n\n"));
}

TEST(ChatFormat, PutsUsageInALastEventWithoutChoicesWhenAsked) {
    const Json last = events_of(stream_of(*format_of(Api::ChatCompletions, true))).back();
    EXPECT_TRUE(last["choices"].empty());
    EXPECT_EQ(last["usage"]["prompt_tokens_details"]["cached_tokens"], 32);
}

TEST(CompletionsFormat, CarriesEveryChoiceWithItsIndex) {
    const auto format = format_of(Api::Completions);
    const Json body = Json::parse(format->whole({"abcd", "efgh"}, kUsage));
    EXPECT_EQ(body["choices"][1]["index"], 1);
    EXPECT_EQ(body["choices"][1]["text"], "efgh");
    EXPECT_EQ(events_of(format->delta(1, "efgh"))[0]["choices"][0]["index"], 1);
}

TEST(CompletionsFormat, StreamsTextThenDone) {
    const std::string stream = stream_of(*format_of(Api::Completions, true));
    EXPECT_EQ(events_of(stream)[0]["choices"][0]["text"], "abcd");
    EXPECT_EQ(events_of(stream).back()["usage"]["prompt_tokens"], 100);
    EXPECT_TRUE(stream.ends_with("data: [DONE]\n\n"));
}

TEST(ResponsesFormat, EndsWithTheWholeResponseAndItsUsage) {
    const auto format = format_of(Api::Responses);
    const Json last = events_of(stream_of(*format)).back();
    EXPECT_EQ(last["type"], "response.completed");
    EXPECT_EQ(last["response"], Json::parse(format->whole({"abcdefgh"}, kUsage)));
    EXPECT_EQ(last["response"]["output"][0]["content"][0]["text"], "abcdefgh");
    EXPECT_EQ(last["response"]["usage"]["input_tokens_details"]["cached_tokens"], 32);
}

TEST(MessagesFormat, LeavesCachedTokensOutOfInputTokens) {
    const auto format = format_of(Api::Messages);
    const Json whole = Json::parse(format->whole({"abcd"}, kUsage));
    EXPECT_EQ(whole["usage"]["input_tokens"], 68);
    EXPECT_EQ(whole["usage"]["cache_read_input_tokens"], 32);
    const std::vector<Json> events = events_of(stream_of(*format));
    EXPECT_EQ(events.front()["message"]["usage"]["input_tokens"], 68);
    EXPECT_EQ(events.back()["type"], "message_stop");
}

}  // namespace
}  // namespace prefix_router::engine_sim
