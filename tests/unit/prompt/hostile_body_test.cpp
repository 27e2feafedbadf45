#include <map>

#include <gtest/gtest.h>

#include "unit/prompt/prompt_samples.hpp"

namespace prefix_router::prompt::test {
namespace {

std::string repeat(std::string_view text, std::size_t count) {
    std::string all;
    all.reserve(text.size() * count);
    for (std::size_t i = 0; i < count; ++i) all += text;
    return all;
}

/// The bodies of scenario B13, and more of their kind.
std::vector<std::string> hostile_bodies() {
    const std::string ok = R"({"model":"m0","messages":[{"role":"user","content":"x"}]})";
    std::vector<std::string> bodies = {
        R"({"model":"m0","x":)" + repeat("[", 200'000) + repeat("]", 200'000) +
            R"(,"messages":[]})",
        repeat(R"({"a":)", 200'000) + "1" + repeat("}", 200'000),
        R"({"messages":)" + repeat("[", 200'000),
        R"({"tools":)" + repeat(R"([{"a":)", 50'000) + "1" + repeat("}]", 50'000) +
            R"(,"messages":[{"role":"user","content":"q"}]})",
        R"({"chat_template_kwargs":)" + repeat(R"([{"a":)", 50'000) + "1" + repeat("}]", 50'000) +
            R"(,"messages":[{"role":"user","content":)" + repeat("[", 50'000) + "}",
        R"({"model":"m0","messages":[{"role":"user","content":"a\ud800b"}]})",
        R"({"model":"m0","messages":[{"role":"user","content":"\udc00\ud800"}]})",
        R"({"messages":[{"role":"user","content":"\u12"}]})",
        "{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\xfe\xc0\xaf\xed\xa0\x80\"}]}",
        R"({"model":"m0","messages":[{"role":"user","content":"a\u0000b"}]})",
        std::string("{\"messages\":[{\"role\":\"user\",\"content\":\"a\0b\"}]}", 46),
        "\xef\xbb\xbf" + ok,
        R"({"model":"m0","temperature":1e99999,"seed":)" + repeat("9", 5000) + R"(,"messages":[]})",
        R"({"model":"m0","temperature":NaN,"messages":[]})",
        R"({"model":7,"messages":{"role":[]},"prompt":{},"tools":"x","stream":"yes","user":[]})",
        R"({"model":null,"messages":[null,{"role":null,"content":null},5,"s",[]],"prompt":null})",
        R"({"model":"m0","prompt":"a\ud800b","stream":"yes"})",
        "[1,2,3]",
        R"("hello")",
        "null",
        "",
        repeat(" ", 5000),
        ok + ok,
        R"({"messages":[],})",
        R"({"model":"m0","messages":[{"role":"us)",
        R"({")" + repeat("k", 3'000'000) + R"(":1,"messages":[]})",
        "{" + repeat(R"("k":1,)", 200'000) + R"("k":2})",
        "--boundary\r\n",
        "model=m0&prompt=hi",
        "{",
        "{\"",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":\"\\",
        R"({"messages":[{"content":"x")",
        R"({"messages":[}])",
        R"({"prompt":[1,2)",
        "{}}}}",
        R"({"prompt":["a",{"b":1},[2]]})",
        R"({"prompt":[[["deep"]]]})",
        R"({"input_ids":[-1,2.5,"x"]})",
        R"({"messages":[{"role":"user","content":[{"type":5,"text":{}},[],null,{"image_url":null}]}]})",
        R"({"messages":[{"role":{},"tool_calls":[[],{"function":7},{"function":{"arguments":[1,)",
        R"({"system":5,"messages":[{"role":"user","content":[{"type":"tool_result","content":5}]}]})",
        R"({"input":[{"type":"function_call"},{"type":"message"},[],5],"instructions":[]})",
    };
    return bodies;
}

constexpr Dialect kAll[] = {
    Dialect::OpenAiChat,        Dialect::OpenAiCompletions,    Dialect::OpenAiResponses,
    Dialect::AnthropicMessages, Dialect::SageMakerInvocations, Dialect::Generate,
    Dialect::GenerateStream,    Dialect::LlamaCppCompletion,   Dialect::OllamaChat,
    Dialect::OllamaGenerate,
};

void expect_consistent(const PromptKey& key) {
    ASSERT_EQ(key.hashes.size(), key.ends.size());
    for (std::size_t i = 1; i < key.ends.size(); ++i) ASSERT_GE(key.ends[i], key.ends[i - 1]);
    ASSERT_GE(key.total, key.empty() ? 0U : key.ends.back());
}

TEST(HostileBodies, GiveSomeKeyInEveryDialect) {
    std::map<Dialect, int> keyed;
    for (const std::string& body : hostile_bodies()) {
        for (const Dialect dialect : kAll) {
            if (body.size() > 100'000 && dialect != Dialect::OpenAiChat) continue;
            const PromptKey key = key_of(dialect, body);
            expect_consistent(key);
            keyed[dialect] += key.empty() ? 0 : 1;
        }
    }
    for (const Dialect dialect : kAll) EXPECT_GE(keyed[dialect], 1) << static_cast<int>(dialect);
    EXPECT_GE(keyed[Dialect::OpenAiChat], 12) << "those with messages";
}

TEST(HostileBodies, EveryCutOfABodyIsRead) {
    const std::string body =
        R"({"tools":[{"a":"\u00e9"}],"system":"s","messages":[{"role":"user","content":[{"type":"text","text":"a\ud83d\ude00"},)"
        R"({"type":"image_url","image_url":{"url":"x"}},{"type":"tool_use","name":"f","input":{"a":1}}]},{"role":"tool","tool_calls":)"
        R"([{"function":{"name":"f","arguments":"{\"a\":\"\\u00e9\"}"}}]}],"prompt":["a",[1,2]],"input":[{"role":"user","content":"x"}]})";
    for (std::size_t size = 0; size <= body.size(); ++size) {
        // On the heap and exactly as long, so that a sanitizer sees a byte read beyond it.
        const std::vector<char> exact(body.begin(),
                                      body.begin() + static_cast<std::ptrdiff_t>(size));
        for (const Dialect dialect : kAll)
            expect_consistent(key_of(dialect, {exact.data(), exact.size()}));
    }
}

TEST(HostileBodies, TheSameBytesGiveTheSameKey) {
    RequestReader reader({.hash_seed = kSeed});
    for (const std::string& body : hostile_bodies())
        EXPECT_EQ(reader.read(Dialect::OpenAiChat, body.substr(0, 100'000)).key.hashes,
                  key_of(Dialect::OpenAiChat, body.substr(0, 100'000)).hashes);
}

TEST(HostileBodies, BrokenOnesHaveNoKey) {
    for (const char* body : {"", "null", "[1,2,3]", R"({"messages":[{"role":"us)", "not json",
                             R"({"messages":[{"role":"user","content":"x"}])"})
        EXPECT_TRUE(key_of(Dialect::OpenAiChat, body).empty()) << body;
}

TEST(HostileAnswers, AreReadInAnyFormatAndCut) {
    const RequestFacts request =
        read(Dialect::OpenAiChat, R"({"messages":[{"role":"user","content":"x"}]})");
    using Format = AnswerReader::Format;
    for (const std::string& body : hostile_bodies()) {
        if (body.size() > 100'000) continue;
        for (const Format format : {Format::Json, Format::ServerSentEvents, Format::JsonLines}) {
            read_answer(request, format, body, 3);
            read_answer(request, format, as_events({body, body}), 1);
        }
    }
}

}  // namespace
}  // namespace prefix_router::prompt::test
