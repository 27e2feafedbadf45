#include <algorithm>

#include <gtest/gtest.h>

#include "unit/prompt/prompt_samples.hpp"

/// The point of hashing answers: the key of the next request, history and new turn, begins with the
/// key of this one and the answer's blocks.
namespace prefix_router::prompt::test {
namespace {

using Format = AnswerReader::Format;

struct Turn {
    const char* claim;
    Dialect dialect;
    std::string request;
    Format format;
    std::string answer;
    std::string next;
};

const std::string kLong = words(9, 3000);  // many blocks

std::vector<Turn> chat_turns() {
    const std::string history =
        R"({"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"q"})";
    const std::string more = R"(,{"role":"user","content":"more"}]})";
    const auto next = [&](const std::string& message) { return history + "," + message + more; };
    const std::string tool_call =
        R"({"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"get","arguments":"{\"city\": \"Z\u00fcrich\", \"n\": [1, 2]}"}},{"id":"c2","type":"function","function":{"name":"go","arguments":""}}]})";
    return {
        {"plain", Dialect::OpenAiChat, history + "]}", Format::Json,
         R"({"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"Hi \"you\"\n)" +
             kLong +
             R"(","tool_calls":null},"finish_reason":"stop"}],"usage":{"prompt_tokens":5}})",
         next(R"({"role":"assistant","content":"Hi \"you\"\n)" + kLong + R"("})")},
        {"streamed", Dialect::OpenAiChat, history + "]}", Format::ServerSentEvents,
         as_events(
             {R"({"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]})",
              R"({"choices":[{"index":0,"delta":{"content":"caf\u00e9 "}}],"usage":null})",
              R"({"choices":[{"index":0,"delta":{"content":"\ud83d\ude00\/\n"}}]})",
              R"({"choices":[{"index":0,"delta":{"content":")" + kLong + R"("}}]})",
              R"({"choices":[{"index":0,"delta":{"content":""},"finish_reason":"stop"}]})",
              R"({"choices":[],"usage":{"prompt_tokens":9}})", "[DONE]"}),
         next("{\"role\":\"assistant\",\"content\":\"caf\u00e9 \U0001f600/\\n" + kLong + "\"}")},
        {"plain tool calls", Dialect::OpenAiChat, history + "]}", Format::Json,
         R"({"choices":[{"message":)" + tool_call + R"(,"finish_reason":"tool_calls"}]})",
         next(tool_call)},
        {"streamed tool calls", Dialect::OpenAiChat, history + "]}", Format::ServerSentEvents,
         as_events(
             {R"({"choices":[{"delta":{"role":"assistant","content":null}}]})",
              R"({"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"get","arguments":""}}]}}]})",
              R"({"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"city\": \"Z"}}]}}]})",
              R"({"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":null,"arguments":"\u00fcrich\","}}]}}]})",
              R"({"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":" \"n\": [1, 2]}"}}]}}]})",
              R"({"choices":[{"delta":{"tool_calls":[{"index":1,"id":"c2","function":{"name":"go","arguments":""}}]}}]})",
              R"({"choices":[{"delta":{},"finish_reason":"tool_calls"}]})", "[DONE]"}),
         next(tool_call)},
        {"text and tool call", Dialect::OpenAiChat, history + "]}", Format::Json,
         R"({"choices":[{"finish_reason":"tool_calls","message":{"content":"Let me","role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"f"}}]}}]})",
         next(
             R"({"role":"assistant","content":"Let me","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{ }"}}]})")},
        {"with fields that are rendered after the messages", Dialect::OpenAiChat,
         history + R"(],"chat_template_kwargs":{"a":1}})", Format::Json,
         R"({"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]})",
         next(R"({"role":"assistant","content":"Hi"})")},
    };
}

std::vector<Turn> messages_turns() {
    const std::string history =
        R"({"model":"m","system":"s","messages":[{"role":"user","content":"q"})";
    const std::string next =
        history + R"(,{"role":"assistant","content":[{"type":"text","text":"Let \u00e9 )" + kLong +
        R"("},{"type":"tool_use","id":"t1","name":"get","input":{"city":"Z\u00fcrich","n":[1,2]}},{"type":"tool_use","id":"t2","name":"go","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"r"}]}]})";
    return {
        {"plain", Dialect::AnthropicMessages, history + "]}", Format::Json,
         R"({"type":"message","role":"assistant","content":[{"type":"text","text":"Let )"
         "\u00e9 " +
             kLong +
             R"("},{"type":"tool_use","id":"t1","name":"get","input":{"city": "Z\u00fcrich", "n": [1, 2]}},{"type":"tool_use","id":"t2","name":"go","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":3}})",
         next},
        {"streamed", Dialect::AnthropicMessages, history + "]}", Format::ServerSentEvents,
         "event: message_start\n" +
             as_events(
                 {R"({"type":"message_start","message":{"role":"assistant","content":[],"stop_reason":null,"usage":{"input_tokens":3}}})"}) +
             "event: ping\n" + as_events({R"({"type":"ping"})"}) +
             as_events(
                 {R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})",
                  R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Let \u00e9 "}})",
                  R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":")" +
                      kLong + R"("}})",
                  R"({"type":"content_block_stop","index":0})",
                  R"({"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"get","input":{}}})",
                  R"({"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}})",
                  R"({"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"city\": \"Z\\u00"}})",
                  R"({"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"fcrich\", \"n\": [1,2]}"}})",
                  R"({"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t2","name":"go","input":{}}})",
                  R"({"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7}})",
                  R"({"type":"message_stop"})"}),
         next},
    };
}

std::vector<Turn> other_turns() {
    const std::string items =
        R"([{"type":"message","id":"1","content":[{"annotations":[],"text":"Let me","type":"output_text"}],"role":"assistant","status":"completed"},{"arguments":"{\"a\": 1}","call_id":"c","name":"f","type":"function_call"},{"arguments":"{}","call_id":"d","name":"g","type":"function_call"}])";
    const std::string input =
        R"({"model":"m","instructions":"s","input":[{"role":"user","content":"q"})";
    const std::string next_input =
        input + "," + items.substr(1, items.size() - 2) +
        R"(,{"type":"function_call_output","call_id":"c","output":"r"}]})";
    const std::string ollama = R"({"model":"m","messages":[{"role":"user","content":"q"})";
    const std::string ollama_message =
        R"({"role":"assistant","content":"Hi <b>","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]})";
    return {
        {"responses, plain", Dialect::OpenAiResponses, input + "]}", Format::Json,
         R"({"id":"r","error":null,"status":"completed","output":)" + items +
             R"(,"usage":{"input_tokens":3}})",
         next_input},
        {"responses, streamed", Dialect::OpenAiResponses, input + "]}", Format::ServerSentEvents,
         "event: response.created\n" +
             as_events(
                 {R"({"type":"response.created","response":{"status":"in_progress","output":[],"error":null}})",
                  R"({"type":"response.output_text.delta","delta":"Let me"})",
                  R"({"type":"response.output_item.done","item":)" + items.substr(1, 20) + R"("}})",
                  R"({"response":{"error":null,"output":)" + items +
                      R"(,"status":"completed"},"type":"response.completed"})"}),
         next_input},
        {"api/chat, plain", Dialect::OllamaChat, ollama + "]}", Format::Json,
         R"({"model":"m","message":)" + ollama_message +
             R"(,"done_reason":"stop","done":true,"eval_count":3})",
         ollama + "," + ollama_message + R"(,{"role":"tool","content":"r"}]})"},
        {"api/chat, streamed", Dialect::OllamaChat, ollama + "]}", Format::JsonLines,
         R"({"model":"m","message":{"role":"assistant","content":"Hi "},"done":false})"
         "\n"
         R"({"model":"m","message":{"role":"assistant","content":"\u003cb\u003e"},"done":false})"
         "\n"
         R"({"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{"a": 1}}}]},"done":false})"
         "\n"
         R"({"model":"m","message":{"role":"assistant","content":""},"done":true,"prompt_eval_count":5})"
         "\n",
         ollama + "," + ollama_message + R"(,{"role":"tool","content":"r"}]})"},
    };
}

std::vector<std::uint64_t> history_of(const PromptKey& key) {
    return {key.hashes.begin(), key.hashes.begin() + key.history.blocks};
}

void expect_continues(const Turn& turn, std::size_t piece) {
    const RequestFacts request = read(turn.dialect, turn.request);
    const AnswerFacts facts = read_answer(request, turn.format, turn.answer, piece);
    const std::string claim = std::string(turn.claim) + ", by " + std::to_string(piece);
    EXPECT_TRUE(facts.ended_cleanly) << claim;
    EXPECT_FALSE(facts.has_error_event) << claim;
    ASSERT_FALSE(facts.hashes.empty()) << claim;
    ASSERT_EQ(facts.hashes.size(), facts.ends.size()) << claim;
    EXPECT_GT(facts.ends.front(), request.key.ends.back()) << claim;

    const PromptKey next = key_of(turn.dialect, turn.next);
    std::vector<std::uint64_t> expected = history_of(request.key);
    const std::size_t blocks = expected.size();
    expected.insert(expected.end(), facts.hashes.begin(), facts.hashes.end());
    EXPECT_TRUE(begins_with(next, expected)) << claim;
    const std::uint64_t behind = request.key.total - request.key.history.position;
    for (std::size_t i = 0; i < facts.ends.size() && blocks + i < next.size(); ++i)
        EXPECT_EQ(facts.ends[i], next.ends[blocks + i] + behind) << claim;
}

void expect_all_continue(const std::vector<Turn>& turns) {
    for (const Turn& turn : turns)
        for (const std::size_t piece : {0U, 1U, 2U, 7U, 64U, 1000U}) expect_continues(turn, piece);
}

TEST(AnswerContinuation, OfChat) {
    expect_all_continue(chat_turns());
}
TEST(AnswerContinuation, OfMessages) {
    expect_all_continue(messages_turns());
}
TEST(AnswerContinuation, OfResponsesAndOllama) {
    expect_all_continue(other_turns());
}

TEST(AnswerContinuation, HoldsFarIntoALongConversation) {
    std::string body = R"({"messages":[{"role":"user","content":")" + words(1, 30'000) + R"("})";
    for (int i = 0; i < 5000; ++i)
        body += R"(,{"role":"assistant","content":"a"},{"role":"user","content":"b"})";
    const RequestFacts request = read(Dialect::OpenAiChat, body + "]}");
    const AnswerFacts facts = read_answer(
        request, Format::Json,
        R"({"choices":[{"message":{"content":")" + kLong + R"("},"finish_reason":"stop"}]})");
    ASSERT_GT(facts.hashes.size(), 3U);
    const PromptKey next =
        key_of(Dialect::OpenAiChat, body + R"(,{"role":"assistant","content":")" + kLong +
                                        R"("},{"role":"user","content":"c"}]})");
    for (const std::uint64_t hash : facts.hashes)
        EXPECT_NE(std::find(next.hashes.begin(), next.hashes.end(), hash), next.hashes.end());
}

struct NoCredit {
    const char* claim;
    std::string answer;
    bool is_complete = true;
};

TEST(AnswerContinuation, IsNotGivenWhereTheNextPromptWillDiffer) {
    const RequestFacts request =
        read(Dialect::OpenAiChat, R"({"messages":[{"role":"user","content":"q"}]})");
    const auto choice = [](const std::string& delta, const char* finish) {
        return R"({"choices":[{"delta":)" + delta + R"(,"finish_reason":)" + finish + "}]}";
    };
    const std::string hi = choice(R"({"content":"hi"})", "null");
    const std::string stop = choice("{}", R"("stop")");
    const NoCredit kCases[] = {
        {"reasoning apart", as_events({choice(R"({"reasoning_content":"hm"})", "null"), hi, stop})},
        {"reasoning under its other name",
         as_events({choice(R"({"reasoning":"hm"})", "null"), hi, stop})},
        {"<think>", as_events({choice(R"({"content":"<thi"})", "null"),
                               choice(R"({"content":"nk>hm"})", "null"), hi, stop})},
        {"</think>", as_events({hi, choice(R"({"content":"</think>"})", "null"), hi, stop})},
        {"no finish", as_events({hi})},
        {"filtered", as_events({hi, choice("{}", R"("content_filter")")})},
        {"cut short", as_events({hi, stop}), false},
        {"error event", as_events({hi, R"({"error":{"message":"engine died"}})", "[DONE]"})},
        {"error behind the finish", as_events({hi, stop, R"({"error":"x"})"})},
    };
    for (const NoCredit& c : kCases) {
        AnswerReader reader(request.dialect, Format::ServerSentEvents, request.key, true);
        reader.feed(c.answer);
        EXPECT_TRUE(reader.finish(c.is_complete).hashes.empty()) << c.claim;
    }
}

TEST(AnswerContinuation, EmptyReasoningIsNone) {
    const RequestFacts request =
        read(Dialect::OpenAiChat, R"({"messages":[{"role":"user","content":"q"}]})");
    const AnswerFacts facts = read_answer(
        request, Format::Json,
        R"({"choices":[{"message":{"content":"hi","reasoning_content":"","reasoning":null},"finish_reason":"stop"}]})");
    EXPECT_FALSE(facts.hashes.empty());
}

TEST(AnswerContinuation, ReasoningItemsOfResponsesAndBlocksOfMessagesEarnNone) {
    const RequestFacts responses = read(Dialect::OpenAiResponses, R"({"input":"q"})");
    EXPECT_TRUE(
        read_answer(
            responses, Format::Json,
            R"({"status":"completed","output":[{"summary":[],"type":"reasoning","content":[{"text":"hm","type":"reasoning_text"}]},{"content":[{"text":"hi"}],"type":"message"}]})")
            .hashes.empty());
    const RequestFacts messages =
        read(Dialect::AnthropicMessages, R"({"messages":[{"role":"user","content":"q"}]})");
    EXPECT_TRUE(
        read_answer(
            messages, Format::Json,
            R"({"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"hi"}],"stop_reason":"end_turn"})")
            .hashes.empty());
}

TEST(AnswerContinuation, IsOffWhenTheRequestSaysSo) {
    const RequestFacts request =
        read(Dialect::OpenAiChat, R"({"n":2,"messages":[{"role":"user","content":"q"}]})");
    EXPECT_TRUE(read_answer(request, Format::Json,
                            R"({"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]})")
                    .hashes.empty());
}

}  // namespace
}  // namespace prefix_router::prompt::test
