#include "engine_sim/api_request.hpp"

#include <string>

#include <gtest/gtest.h>

#include "engine_sim/block_chain.hpp"

namespace prefix_router::engine_sim {
namespace {

constexpr Tokens kDefault = 64;

Result<ApiRequest> completion(const std::string& body) {
    return read_request(Api::Completions, body, kDefault);
}

TEST(ApiRequest, KnowsThePathsOfEveryApi) {
    EXPECT_EQ(api_of_path("/v1/chat/completions"), Api::ChatCompletions);
    EXPECT_EQ(api_of_path("/v1/completions"), Api::Completions);
    EXPECT_EQ(api_of_path("/v1/responses"), Api::Responses);
    EXPECT_EQ(api_of_path("/v1/messages"), Api::Messages);
    EXPECT_FALSE(api_of_path("/v1/embeddings"));
}

TEST(ApiRequest, ReadsTheFieldsThatConcernTheEngine) {
    const auto request = read_request(
        Api::ChatCompletions,
        R"({"model":"m","cache_salt":"s","stream":true,"stream_options":{"include_usage":true},
            "messages":[{"role":"user","content":"U"}]})",
        kDefault);
    ASSERT_TRUE(request);
    EXPECT_EQ(request->model, "m");
    EXPECT_EQ(request->cache_salt, "s");
    EXPECT_TRUE(request->stream);
    EXPECT_TRUE(request->include_usage);
    EXPECT_EQ(request->max_tokens, kDefault);
    ASSERT_EQ(request->prompts.size(), 1U);
    EXPECT_EQ(request->prompts[0].marker, fnv1a_32("U"));
}

TEST(ApiRequest, HonoursEverySpellingOfTheTokenLimit) {
    for (const char* key : {"max_tokens", "max_completion_tokens", "max_output_tokens"})
        EXPECT_EQ(completion(std::string(R"({"prompt":"x",")") + key + "\":9}")->max_tokens, 9);
    EXPECT_EQ(completion(R"({"prompt":"x","max_tokens":null})")->max_tokens, kDefault);
    for (const char* text : {"0", "16777217", "9223372036854775807", "18446744073709551615"})
        EXPECT_TRUE(
            completion(std::string(R"({"prompt":"x","max_tokens":)") + text + "}").has_error())
            << text;
    EXPECT_TRUE(completion(R"({"prompt":"x","max_tokens":"9"})").has_error());
}

TEST(ApiRequest, ReadsPromptsOfEveryShape) {
    EXPECT_EQ(completion(R"({"prompt":"x"})")->prompts[0].text, "x");
    EXPECT_EQ(completion(R"({"prompt":["x","yy"]})")->prompts[1].text, "yy");
    const auto ids = completion(R"({"prompt":[1,258]})");
    ASSERT_EQ(ids->prompts.size(), 1U);
    EXPECT_EQ(ids->prompts[0].text, std::string("\x01\0\0\0\x02\x01\0\0", 8));
    EXPECT_EQ(completion(R"({"prompt":[[1,258],[7]]})")->prompts[0].text, ids->prompts[0].text);
}

TEST(ApiRequest, MakesOnePromptPerChoice) {
    EXPECT_EQ(completion(R"({"prompt":["x","y"],"n":3})")->prompts.size(), 6U);
}

TEST(ApiRequest, RefusesWhatItCannotCompute) {
    for (const char* body : {"", "x", "[]", "{", R"({"prompt":[]})", R"({"prompt":7})",
                             R"({"prompt":[true]})", R"({"prompt":[1,"x"]})", R"({"prompt":""})",
                             R"({"prompt":"x","n":0})", R"({"prompt":"x","n":1000000})", R"({})"})
        EXPECT_TRUE(completion(body).has_error()) << body;
}

TEST(ApiRequest, SurvivesDeepNesting) {
    const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
    EXPECT_TRUE(completion(R"({"prompt":)" + deep + "}").has_error());
    EXPECT_TRUE(read_request(Api::ChatCompletions,
                             R"({"messages":[{"role":"user","content":"U"}],"tools":)" + deep + "}",
                             kDefault)
                    .has_error());
}

TEST(ApiRequest, CountsNoBracketsInsideStrings) {
    const std::string brackets(1000, '[');
    EXPECT_EQ(completion(R"({"prompt":"\"\\)" + brackets + "\"}")->prompts[0].text,
              "\"\\" + brackets);
}

}  // namespace
}  // namespace prefix_router::engine_sim
