#include <gtest/gtest.h>

#include "unit/prompt/prompt_samples.hpp"

namespace prefix_router::prompt::test {
namespace {

using Format = AnswerReader::Format;
using Count = std::optional<std::uint64_t>;

struct Case {
    const char* claim;
    Dialect dialect;
    Format format;
    std::string answer;
    Count prompt;
    Count cached;
    Count completion;
};

std::vector<Case> cases() {
    return {
        {"OpenAI chat", Dialect::OpenAiChat, Format::Json,
         R"({"choices":[{"message":{"content":"{\"usage\":{\"prompt_tokens\":1}}","usage":{"prompt_tokens":2}}}],"usage":{"prompt_tokens":320,"total_tokens":321,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":288}}})",
         320, 288, 1},
        {"null details",
         Dialect::OpenAiChat,
         Format::Json,
         R"({"usage":{"prompt_tokens":7,"prompt_tokens_details":null,"completion_tokens":0}})",
         7,
         {},
         0},
        {"null counts",
         Dialect::OpenAiChat,
         Format::Json,
         R"({"usage":{"prompt_tokens":7,"prompt_tokens_details":{"cached_tokens":null}}})",
         7,
         {},
         {}},
        {"no usage",
         Dialect::OpenAiChat,
         Format::Json,
         R"({"usage":null,"choices":[]})",
         {},
         {},
         {}},
        {"chat stream, last chunk", Dialect::OpenAiChat, Format::ServerSentEvents,
         as_events(
             {R"({"choices":[{"delta":{"content":"a"}}],"usage":null})",
              R"({"choices":[{"delta":{"content":"b"}}],"usage":{"prompt_tokens":5,"completion_tokens":1}})",
              R"({"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}})",
              "[DONE]"}),
         5, 4, 2},
        {"CRLF and comments",
         Dialect::OpenAiChat,
         Format::ServerSentEvents,
         ": hello\r\n\r\nid: 3\r\nevent: x\r\ndata: {\"usage\":{\"prompt_tokens\":5}}\r\n\r\n",
         5,
         {},
         {}},
        {"data without a space, over two lines",
         Dialect::OpenAiChat,
         Format::ServerSentEvents,
         "data:{\"usage\":\ndata:{\"prompt_tokens\":5}}\n\n",
         5,
         {},
         {}},
        {"data over two lines of CRLF",
         Dialect::OpenAiChat,
         Format::ServerSentEvents,
         "data:{\"usage\":\r\ndata:{\"prompt_tokens\":5}}\r\n\r\n",
         5,
         {},
         {}},
        {"counts that no engine reports",
         Dialect::OpenAiChat,
         Format::Json,
         R"({"usage":{"prompt_tokens":9223372036854775808,"prompt_tokens_details":{"cached_tokens":1},"completion_tokens":18446744073709551614}})",
         {},
         1,
         {}},
        {"sums that no engine reports",
         Dialect::AnthropicMessages,
         Format::Json,
         R"({"usage":{"input_tokens":10,"cache_creation_input_tokens":9223372036854775808,"cache_read_input_tokens":9223372036854775808,"output_tokens":3}})",
         10,
         {},
         3},
        {"completions", Dialect::OpenAiCompletions, Format::Json,
         R"({"choices":[{"text":"x","finish_reason":"length"}],"usage":{"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":8},"completion_tokens":3}})",
         9, 8, 3},
        {"responses", Dialect::OpenAiResponses, Format::Json,
         R"({"output":[],"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":8},"output_tokens":3}})",
         9, 8, 3},
        {"responses stream", Dialect::OpenAiResponses, Format::ServerSentEvents,
         as_events(
             {R"({"type":"response.created","response":{"usage":null}})",
              R"({"type":"response.completed","response":{"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":0},"output_tokens":3}}})"}),
         9, 0, 3},
        {"messages: cached tokens come on top", Dialect::AnthropicMessages, Format::Json,
         R"({"content":[],"usage":{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":100,"output_tokens":3}})",
         115, 100, 3},
        {"messages without cache fields",
         Dialect::AnthropicMessages,
         Format::Json,
         R"({"usage":{"input_tokens":10,"cache_read_input_tokens":null,"output_tokens":3}})",
         10,
         {},
         3},
        {"messages stream, corrected", Dialect::AnthropicMessages, Format::ServerSentEvents,
         as_events(
             {R"({"type":"message_start","message":{"usage":{"input_tokens":110,"output_tokens":0}}})",
              R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":10,"cache_read_input_tokens":100,"output_tokens":7}})"}),
         110, 100, 7},
        {"llama.cpp timings", Dialect::OpenAiChat, Format::Json,
         R"({"choices":[],"timings":{"cache_n":90,"prompt_n":10,"predicted_n":4,"prompt_ms":5.5}})",
         100, 90, 4},
        {"llama.cpp completion", Dialect::LlamaCppCompletion, Format::Json,
         R"({"content":"x","tokens_evaluated":100,"tokens_cached":131,"tokens_predicted":31,"stop_type":"limit","timings":{"cache_n":90,"prompt_n":10}})",
         100, 90, 31},
        {"Ollama lines",
         Dialect::OllamaChat,
         Format::JsonLines,
         "{\"message\":{\"content\":\"a\"},\"done\":false}\n{\"done\":true,\"prompt_eval_count\":"
         "26,\"eval_count\":3}\n",
         26,
         {},
         3},
        {"Ollama generate",
         Dialect::OllamaGenerate,
         Format::Json,
         R"({"response":"x","done":true,"prompt_eval_count":26,"eval_count":3})",
         26,
         {},
         3},
        {"SGLang's own", Dialect::Generate, Format::Json,
         R"({"text":"x","meta_info":{"finish_reason":{"type":"stop","matched":2},"prompt_tokens":6,"completion_tokens":2,"cached_tokens":5}})",
         6, 5, 2},
        {"TGI",
         Dialect::Generate,
         Format::Json,
         R"({"generated_text":"x","details":{"finish_reason":"length","generated_tokens":20,"prefill":[]}})",
         {},
         {},
         20},
        {"invocations as chat",
         Dialect::SageMakerInvocations,
         Format::Json,
         R"({"choices":[],"usage":{"prompt_tokens":5}})",
         5,
         {},
         {}},
        {"a number at the very end",
         Dialect::OpenAiChat,
         Format::Json,
         R"({"usage":{"prompt_tokens":5)",
         5,
         {},
         {}},
        {"compressed",
         Dialect::OpenAiChat,
         Format::Skip,
         R"({"usage":{"prompt_tokens":5}})",
         {},
         {},
         {}},
    };
}

TEST(AnswerUsage, IsReadFromEveryDialectHoweverTheAnswerIsCut) {
    for (const Case& c : cases()) {
        RequestFacts request;
        request.dialect = c.dialect;
        for (const std::size_t piece : {0U, 1U, 3U, 17U}) {
            const Usage usage = read_answer(request, c.format, c.answer, piece).usage;
            EXPECT_EQ(usage.prompt_tokens, c.prompt) << c.claim << " by " << piece;
            EXPECT_EQ(usage.cached_tokens, c.cached) << c.claim << " by " << piece;
            EXPECT_EQ(usage.completion_tokens, c.completion) << c.claim << " by " << piece;
        }
    }
}

TEST(AnswerErrors, AreSeenInStreams) {
    const std::pair<Dialect, std::string> kStreams[] = {
        {Dialect::OpenAiChat, "data: {\"error\":{\"message\":\"x\"}}\n\ndata: [DONE]\n\n"},
        {Dialect::OpenAiCompletions, "data: {\"error\":\"x\"}\n\n"},
        {Dialect::OpenAiChat, "data: {\"object\":\"error\",\"message\":\"x\"}\n\n"},
        {Dialect::AnthropicMessages, "event: error\ndata: {\"type\":\"error\",\"error\":{}}\n\n"},
        {Dialect::OpenAiResponses,
         "data: {\"type\":\"response.failed\",\"response\":{\"error\":null}}\n\n"},
        {Dialect::OpenAiResponses, "data: {\"type\":\"error\",\"message\":\"x\"}\n\n"},
    };
    for (const auto& [dialect, stream] : kStreams) {
        RequestFacts request;
        request.dialect = dialect;
        for (const std::size_t piece : {0U, 1U, 5U})
            EXPECT_TRUE(
                read_answer(request, Format::ServerSentEvents, stream, piece).has_error_event)
                << stream;
    }
}

TEST(AnswerErrors, NullIsNoErrorAndAPlainErrorBodyNoEvent) {
    RequestFacts request;
    request.dialect = Dialect::OpenAiChat;
    EXPECT_FALSE(read_answer(request, Format::ServerSentEvents, "data: {\"error\":null}\n\n")
                     .has_error_event);
    EXPECT_FALSE(
        read_answer(request, Format::Json, R"({"error":{"message":"too long"}})").has_error_event);
}

TEST(AnswerEnd, IsCleanForEveryReasonAfterWhichTokensStay) {
    const auto is_clean = [](Dialect dialect, const std::string& answer) {
        RequestFacts request;
        request.dialect = dialect;
        return read_answer(request, Format::Json, answer).ended_cleanly;
    };
    for (const char* reason : {"stop", "length", "tool_calls"})
        EXPECT_TRUE(is_clean(Dialect::OpenAiChat, std::string(R"({"choices":[{"finish_reason":")") +
                                                      reason + R"("}]})"));
    EXPECT_FALSE(
        is_clean(Dialect::OpenAiChat, R"({"choices":[{"finish_reason":"content_filter"}]})"));
    EXPECT_FALSE(is_clean(Dialect::OpenAiChat, R"({"choices":[{"finish_reason":null}]})"));
    for (const char* reason : {"end_turn", "max_tokens", "tool_use", "stop_sequence"})
        EXPECT_TRUE(is_clean(Dialect::AnthropicMessages,
                             std::string(R"({"stop_reason":")") + reason + R"("})"));
    EXPECT_TRUE(is_clean(Dialect::OpenAiResponses, R"({"status":"completed"})"));
    EXPECT_FALSE(is_clean(Dialect::OpenAiResponses, R"({"status":"failed"})"));
    EXPECT_TRUE(is_clean(Dialect::OllamaChat, R"({"done":true})"));
    EXPECT_TRUE(is_clean(Dialect::LlamaCppCompletion, R"({"stop_type":"eos"})"));
}

TEST(FirstByte, IsNotAComment_APing_ABlankLine_OrAnError) {
    const auto counted = [](Format format, std::string_view text) {
        AnswerReader reader(Dialect::AnthropicMessages, format, {}, false);
        bool any = false;
        for (std::size_t i = 0; i < text.size(); ++i) any = reader.feed(text.substr(i, 1));
        AnswerReader whole(Dialect::AnthropicMessages, format, {}, false);
        EXPECT_EQ(whole.feed(text), any) << text;
        return any;
    };
    EXPECT_FALSE(counted(Format::ServerSentEvents, ": keep-alive\n\n"));
    EXPECT_FALSE(counted(Format::ServerSentEvents, "\n\r\n\n"));
    EXPECT_FALSE(counted(Format::ServerSentEvents, "event: ping\ndata: {\"type\":\"ping\"}\n\n"));
    EXPECT_FALSE(
        counted(Format::ServerSentEvents, "event: ping\r\ndata: {}\r\n\r\nid: 1\nretry: 5\n"));
    EXPECT_TRUE(counted(Format::ServerSentEvents, "event: ping\ndata: {}\n\ndata: {}\n"));
    EXPECT_FALSE(counted(Format::ServerSentEvents, "event: ping\ndata: {\ndata: }\n\n"));
    EXPECT_TRUE(counted(Format::ServerSentEvents, "event: ping\n\ndata: x\n"));
    EXPECT_TRUE(counted(Format::ServerSentEvents, "event: ping\r\n\r\ndata: x\r"));
    EXPECT_FALSE(counted(Format::ServerSentEvents, "data: x"));
    EXPECT_TRUE(counted(Format::ServerSentEvents, "data: x\n"));
    EXPECT_FALSE(counted(Format::ServerSentEvents, "data:\n\n"));
    EXPECT_FALSE(counted(Format::ServerSentEvents, "data: {\"error\":{\"code\":500}}\n\n"));
    EXPECT_FALSE(counted(Format::ServerSentEvents, "event: error\ndata: {}\n\n"));
    EXPECT_FALSE(counted(Format::ServerSentEvents,
                         "data: {\"error\":{\"type\":\"overloaded\"}}\n\ndata: {}\n\n"));
    EXPECT_TRUE(counted(Format::ServerSentEvents, "data: {\"error\":null}\n\n"));
    EXPECT_TRUE(counted(Format::ServerSentEvents, "data: {}\n\ndata: {\"error\":\"late\"}\n\n"));
    EXPECT_TRUE(counted(Format::ServerSentEvents, "Internal error\n"));
    EXPECT_FALSE(counted(Format::JsonLines, "\n \n"));
    EXPECT_FALSE(counted(Format::JsonLines, "\n{"));
    EXPECT_TRUE(counted(Format::JsonLines, "\n{}\n"));
    EXPECT_FALSE(counted(Format::JsonLines, "{\"error\":\"loading\"}\n"));
    EXPECT_TRUE(counted(Format::JsonLines, "{}\n{\"error\":\"late\"}\n"));
    EXPECT_TRUE(counted(Format::Json, "{"));
    EXPECT_TRUE(counted(Format::Skip, " "));
    EXPECT_FALSE(counted(Format::Skip, ""));
}

TEST(AnswerFormat, FollowsFromTheHeaders) {
    EXPECT_EQ(AnswerReader::format_of("application/json", ""), Format::Json);
    EXPECT_EQ(AnswerReader::format_of("Application/JSON; charset=utf-8", "identity"), Format::Json);
    EXPECT_EQ(AnswerReader::format_of("text/event-stream; charset=utf-8", ""),
              Format::ServerSentEvents);
    EXPECT_EQ(AnswerReader::format_of("application/x-ndjson", ""), Format::JsonLines);
    EXPECT_EQ(AnswerReader::format_of("application/json", "gzip"), Format::Skip);
    EXPECT_EQ(AnswerReader::format_of("text/html", ""), Format::Skip);
    EXPECT_EQ(AnswerReader::format_of("", ""), Format::Skip);
}

}  // namespace
}  // namespace prefix_router::prompt::test
