#include <gtest/gtest.h>

#include "unit/prompt/prompt_samples.hpp"

namespace prefix_router::prompt::test {
namespace {

TEST(Dialect, FollowsFromMethodAndPath) {
    const std::pair<const char*, Dialect> kPaths[] = {
        {"/v1/chat/completions", Dialect::OpenAiChat},
        {"/v1/completions", Dialect::OpenAiCompletions},
        {"/v1/responses", Dialect::OpenAiResponses},
        {"/v1/messages", Dialect::AnthropicMessages},
        {"/invocations", Dialect::SageMakerInvocations},
        {"/generate", Dialect::Generate},
        {"/generate_stream", Dialect::GenerateStream},
        {"/completion", Dialect::LlamaCppCompletion},
        {"/api/chat", Dialect::OllamaChat},
        {"/api/generate", Dialect::OllamaGenerate},
        {"/v1/messages?beta=true", Dialect::AnthropicMessages},
        {"http://router:8080/v1/completions?x", Dialect::OpenAiCompletions},
        {"/v1/messages/count_tokens", Dialect::None},
        {"/v1/chat/completions/", Dialect::None},
        {"/v1/embeddings", Dialect::None},
        {"*", Dialect::None},
        {"", Dialect::None},
        {"http://router", Dialect::None},
    };
    for (const auto& [path, dialect] : kPaths) {
        EXPECT_EQ(dialect_of("POST", path), dialect) << path;
        EXPECT_EQ(dialect_of("GET", path), Dialect::None) << path;
    }
}

TEST(RequestFacts, ModelIsTheTopLevelOneWhereverItStands) {
    std::string messages = R"("messages":[{"role":"user","model":"inner","content":")";
    messages += words(1, 100'000) + R"("}])";
    const std::string body =
        R"({"metadata":{"model":"other"},)" + messages + R"(,"model":"m\u0061"})";
    EXPECT_EQ(read(Dialect::OpenAiChat, body).model, "ma");
    EXPECT_EQ(read(Dialect::OpenAiChat, R"({"model":7,"prompt":"x"})").model, "");
    EXPECT_EQ(read(Dialect::OpenAiChat, R"({"model":null})").model, "");
    EXPECT_EQ(read(Dialect::OpenAiChat, R"({"model":")" + std::string(300, 'm') + R"("})").model,
              std::string(256, 'm'));
}

TEST(RequestFacts, AModelIsDoubtfulWhenEnginesMayReadAnother) {
    const auto is_doubtful = [](const std::string& body) {
        return read(Dialect::OllamaChat, body).is_model_doubtful;
    };
    EXPECT_FALSE(is_doubtful(R"({"model":"m","modem":"x","mode":"y","Models":"z","MODEM":1})"));
    EXPECT_FALSE(is_doubtful(R"({"model":")" + std::string(256, 'm') + R"("})"));
    EXPECT_TRUE(is_doubtful(R"({"model":")" + std::string(257, 'm') + R"("})"));
    EXPECT_TRUE(is_doubtful(R"({"model":"m","MODEL":"x"})"));
    EXPECT_TRUE(is_doubtful(R"({"mODEl":"x","model":"m"})"));
    EXPECT_TRUE(is_doubtful(R"({"m\u006Fdel":"m","model":"m"})"));
}

TEST(RequestFacts, StreamsAsTheDialectSays) {
    EXPECT_TRUE(read(Dialect::OpenAiChat, R"({"stream":true})").streams);
    EXPECT_FALSE(read(Dialect::OpenAiChat, R"({"stream":"yes"})").streams);
    EXPECT_FALSE(read(Dialect::OpenAiChat, R"({"stream":true,"stream":false})").streams);
    EXPECT_TRUE(read(Dialect::OllamaChat, "{}").streams);
    EXPECT_FALSE(read(Dialect::OllamaGenerate, R"({"stream":false})").streams);
    EXPECT_TRUE(read(Dialect::GenerateStream, "{}").streams);
    EXPECT_FALSE(read(Dialect::Generate, "{}").streams);
}

TEST(RequestFacts, SequencesCountPromptsAndAnswers) {
    const auto sequences = [](Dialect dialect, const char* body) {
        return read(dialect, body).sequences;
    };
    EXPECT_EQ(sequences(Dialect::OpenAiChat, R"({"n":16,"messages":[]})"), 16U);
    EXPECT_EQ(sequences(Dialect::OpenAiCompletions, R"({"prompt":["a","b","c"],"n":2})"), 6U);
    EXPECT_EQ(sequences(Dialect::OpenAiCompletions, R"({"prompt":"a","best_of":4})"), 4U);
    EXPECT_EQ(sequences(Dialect::OpenAiCompletions, R"({"prompt":[1,2,3]})"), 1U);
    EXPECT_EQ(sequences(Dialect::OpenAiCompletions, R"({"prompt":[[1],[2]]})"), 2U);
    EXPECT_EQ(sequences(Dialect::OpenAiCompletions, R"({"prompt":[]})"), 1U);
    EXPECT_EQ(sequences(Dialect::Generate, R"({"inputs":"a","parameters":{"best_of":2}})"), 2U);
    EXPECT_EQ(sequences(Dialect::Generate, R"({"text":["a","b"],"sampling_params":{"n":3}})"), 6U);
    EXPECT_EQ(sequences(Dialect::LlamaCppCompletion, R"({"prompt":["a",1,2,"b"]})"), 1U);
    EXPECT_EQ(sequences(Dialect::OpenAiChat, R"({"n":99999999,"messages":[]})"), 1024U);
    EXPECT_EQ(sequences(Dialect::OpenAiChat, R"({"n":-3,"messages":[]})"), 1U);
    EXPECT_EQ(sequences(Dialect::OpenAiChat, R"({"n":"x","messages":[]})"), 1U);
    EXPECT_EQ(sequences(Dialect::OpenAiCompletions, R"({"n":0,"best_of":0,"prompt":"x"})"), 1U);
}

TEST(RequestFacts, TellWhatReportsOfThePromptAreAbout) {
    const auto key = [](Dialect dialect, const char* body) { return key_of(dialect, body); };
    EXPECT_TRUE(key(Dialect::OpenAiResponses, R"({"input":"x","previous_response_id":"resp_1"})")
                    .lacks_history);
    EXPECT_FALSE(key(Dialect::OpenAiResponses, R"({"input":"x","previous_response_id":null})")
                     .lacks_history);
    EXPECT_TRUE(key(Dialect::LlamaCppCompletion, R"({"prompt":"x","cache_prompt":false})")
                    .goes_around_cache);
    EXPECT_FALSE(key(Dialect::LlamaCppCompletion, R"({"prompt":"x","cache_prompt":true})")
                     .goes_around_cache);
    EXPECT_FALSE(key(Dialect::LlamaCppCompletion, R"({"prompt":"x"})").goes_around_cache);
}

TEST(RequestFacts, AnAnswerExtendsTheKeyOfAChatWithOneAnswer) {
    const auto extends = [](Dialect dialect, const char* body) {
        return read(dialect, body).answer_extends_key;
    };
    EXPECT_TRUE(extends(Dialect::OpenAiChat, R"({"messages":[{"role":"user","content":"x"}]})"));
    EXPECT_TRUE(extends(Dialect::OpenAiResponses, R"({"input":"x"})"));
    EXPECT_TRUE(
        extends(Dialect::SageMakerInvocations, R"({"messages":[{"role":"user","content":"x"}]})"));
    EXPECT_FALSE(
        extends(Dialect::OpenAiChat, R"({"n":2,"messages":[{"role":"user","content":"x"}]})"));
    EXPECT_FALSE(
        extends(Dialect::OpenAiChat, R"({"messages":[{"role":"assistant","content":"prefill"}]})"));
    EXPECT_FALSE(extends(Dialect::OpenAiChat, R"({"messages":[]})"));
    EXPECT_FALSE(extends(Dialect::OpenAiCompletions, R"({"prompt":"x"})"));
}

TEST(RequestFacts, EmptyPromptsHaveNoKeyAndShortOnesOneBlock) {
    EXPECT_TRUE(key_of(Dialect::OpenAiCompletions, R"({"prompt":""})").empty());
    EXPECT_TRUE(key_of(Dialect::OpenAiCompletions, R"({"prompt":[]})").empty());
    EXPECT_TRUE(key_of(Dialect::OpenAiChat, R"({"messages":[]})").empty());
    EXPECT_EQ(key_of(Dialect::OpenAiCompletions, R"({"prompt":[]})").home, 0U);
    EXPECT_EQ(key_of(Dialect::OpenAiCompletions, R"({"prompt":"hello"})").ends,
              std::vector<std::uint32_t>{5});
}

TEST(RequestReader, ForgetsTheRequestBefore) {
    RequestReader reader({.hash_seed = kSeed});
    const std::string body =
        R"({"model":"m","stream":true,"n":3,"messages":[{"role":"user","content":"x"}]})";
    const RequestFacts first = reader.read(Dialect::OpenAiChat, body);
    reader.read(Dialect::OpenAiCompletions, R"({"prompt":[1,2,3]})");
    const RequestFacts& empty = reader.read(Dialect::None, body);
    EXPECT_TRUE(empty.key.empty());
    EXPECT_FALSE(empty.key.is_tokens);
    EXPECT_EQ(empty.model, "");
    EXPECT_EQ(empty.sequences, 1U);
    EXPECT_FALSE(empty.streams);
    EXPECT_EQ(reader.read(Dialect::OpenAiChat, body).key.hashes, first.key.hashes);
}

}  // namespace
}  // namespace prefix_router::prompt::test
