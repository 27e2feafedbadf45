#include "engine_sim/chat_template.hpp"

#include <string>

#include <gtest/gtest.h>

namespace prefix_router::engine_sim {
namespace {

std::string rendered_chat(const std::string& body) {
    return render(*read_chat(Json::parse(body)));
}

TEST(ChatTemplate, RendersToolsThenMessagesThenTheHeaderOfTheAnswer) {
    EXPECT_EQ(rendered_chat(R"({"messages":[{"role":"system","content":"S"},
                                            {"role":"user","content":"U"}],
                                "tools":[{"type":"function"}]})"),
              "<|begin|><|tools|>\n{\"type\":\"function\"}\n<|end|>\n<|system|>\nS<|end|>\n"
              "<|user|>\nU<|end|>\n<|assistant|>\n");
}

TEST(ChatTemplate, ContinuesTheSameBytesWhenTheAnswerIsSentBack) {
    const std::string first = rendered_chat(R"({"messages":[{"role":"user","content":"Hi"}]})");
    const std::string second = rendered_chat(
        R"({"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello."},
                        {"role":"user","content":"More"}]})");
    EXPECT_TRUE(second.starts_with(first + "Hello."));
}

TEST(ChatTemplate, DoesNotSeeSpelling) {
    const std::string plain = rendered_chat(
        R"({"model":"m","messages":[{"role":"user","content":"a/é"}],"temperature":1})");
    EXPECT_EQ(plain, rendered_chat(
                         R"({"messages" : [{"content":"a\/\u00e9","role":"user"}], "user":"x"})"));
    EXPECT_EQ(plain, rendered_chat(R"({"messages":[{"role":"user",
                       "content":[{"type":"text","text":"a/"},{"type":"text","text":"é"}]}]})"));
}

TEST(ChatTemplate, RendersChatResponsesAndMessagesAlike) {
    const std::string chat = rendered_chat(
        R"({"messages":[{"role":"system","content":"S"},{"role":"user","content":"U"}]})");
    EXPECT_EQ(chat, render(*read_responses(Json::parse(R"({"instructions":"S","input":"U"})"))));
    EXPECT_EQ(chat, render(*read_responses(Json::parse(
                        R"({"instructions":"S","input":[{"role":"user",
                            "content":[{"type":"input_text","text":"U"}]}]})"))));
    EXPECT_EQ(chat, render(*read_messages(Json::parse(
                        R"({"system":[{"type":"text","text":"S"}],
                            "messages":[{"role":"user","content":"U"}]})"))));
}

TEST(ChatTemplate, RendersToolCallsAndTheirResults) {
    const std::string chat = rendered_chat(
        R"({"messages":[{"role":"user","content":"U"},
            {"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function",
             "function":{"name":"f","arguments":"{\"a\":1}"}}]},
            {"role":"tool","tool_call_id":"1","content":"R"}]})");
    EXPECT_NE(chat.find("<|assistant|>\n<|call|>f {\"a\":1}<|end|>"), std::string::npos);
    EXPECT_NE(chat.find("<|tool|>\nR<|end|>"), std::string::npos);
    EXPECT_EQ(chat, render(*read_messages(Json::parse(
                        R"({"messages":[{"role":"user","content":"U"},
                            {"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f",
                             "input":{"a":1}}]},
                            {"role":"user","content":[{"type":"tool_result","tool_use_id":"1",
                             "content":"R"}]}]})"))));
    EXPECT_EQ(chat, render(*read_responses(Json::parse(
                        R"({"input":[{"role":"user","content":"U"},
                            {"type":"function_call","call_id":"1","name":"f","arguments":"{\"a\":1}"},
                            {"type":"function_call_output","call_id":"1","output":"R"}]})"))));
}

TEST(ChatTemplate, GivesAnImageAFixedLengthThatDependsOnItsSource) {
    const auto with_image = [](const std::string& url) {
        return rendered_chat(R"({"messages":[{"role":"user","content":[{"type":"image_url",
                                 "image_url":{"url":")" +
                             url + R"("}}]}]})");
    };
    EXPECT_EQ(with_image("data:a").size(), with_image("data:" + std::string(9999, 'b')).size());
    EXPECT_NE(with_image("data:a"), with_image("data:b"));
    EXPECT_EQ(with_image("data:a"), with_image("data:a"));
}

TEST(ChatTemplate, ShowsReasoningEffort) {
    EXPECT_NE(
        rendered_chat(R"({"messages":[{"role":"user","content":"U"}]})"),
        rendered_chat(R"({"messages":[{"role":"user","content":"U"}],"reasoning_effort":"low"})"));
}

TEST(Conversation, KnowsTheLastUserTextBehindToolResults) {
    const auto conversation = read_chat(Json::parse(
        R"({"messages":[{"role":"user","content":"first"},{"role":"user","content":"last"},
                        {"role":"tool","content":"R"}]})"));
    EXPECT_EQ(conversation->last_user_text(), "last");
}

TEST(Conversation, RefusesWhatIsNotAConversation) {
    for (const char* body : {R"({})", R"({"messages":[]})", R"({"messages":"x"})",
                             R"({"messages":[1]})", R"({"messages":[{"content":"x"}]})"})
        EXPECT_TRUE(read_chat(Json::parse(body)).has_error()) << body;
    EXPECT_TRUE(read_responses(Json::parse(R"({"input":7})")).has_error());
    EXPECT_TRUE(read_responses(Json::parse(R"({"input":[7]})")).has_error());
    EXPECT_TRUE(read_messages(Json::parse(R"({"messages":[7]})")).has_error());
}

}  // namespace
}  // namespace prefix_router::engine_sim
