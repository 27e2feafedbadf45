#include "proxy/scrape.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prefix_router::proxy {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

TEST(ReadExposition, ReadsVllm) {
    const auto read = read_exposition(
        "# HELP vllm:num_requests_running Number of requests\n"
        "# TYPE vllm:num_requests_running gauge\n"
        "vllm:num_requests_running{engine=\"0\",model_name=\"m\"} 3.0\n"
        "vllm:num_requests_waiting{engine=\"0\",model_name=\"m\"} 7.0\n"
        "vllm:kv_cache_usage_perc{engine=\"0\",model_name=\"m\"} 0.25\n"
        "vllm:cache_config_info{block_size=\"16\",num_gpu_blocks=\"512\",engine=\"0\"} 1.0\n");
    EXPECT_EQ(read.engine, Engine::Vllm);
    EXPECT_THAT(read.load.running, Optional(DoubleEq(3)));
    EXPECT_THAT(read.load.waiting, Optional(DoubleEq(7)));
    EXPECT_THAT(read.load.kv_usage, Optional(DoubleEq(0.25)));
    EXPECT_THAT(read.load.capacity, Optional(Tokens{8192}));
}

TEST(ReadExposition, PrefersVllmsOwnTokenCount) {
    const auto read = read_exposition(
        "vllm:cache_config_info{block_size=\"16\",kv_cache_size_tokens=\"8000\","
        "num_gpu_blocks=\"512\"} 1.0");
    EXPECT_THAT(read.load.capacity, Optional(Tokens{8000}));
}

TEST(ReadExposition, AddsUpTheRanksOfOneServer) {
    const auto read = read_exposition(
        "vllm:num_requests_running{engine=\"0\"} 1\nvllm:num_requests_running{engine=\"1\"} 2\n"
        "vllm:kv_cache_usage_perc{engine=\"0\"} 0.1\nvllm:kv_cache_usage_perc{engine=\"1\"} 0.9\n"
        "vllm:cache_config_info{block_size=\"16\",num_gpu_blocks=\"10\",engine=\"0\"} 1\n"
        "vllm:cache_config_info{block_size=\"16\",num_gpu_blocks=\"20\",engine=\"1\"} 1\n");
    EXPECT_THAT(read.load.running, Optional(DoubleEq(3)));
    EXPECT_THAT(read.load.kv_usage, Optional(DoubleEq(0.9)));
    EXPECT_THAT(read.load.capacity, Optional(Tokens{480}));
}

TEST(ReadExposition, ReadsSgLangLlamaCppAndTgi) {
    const auto sglang = read_exposition(
        "sglang:num_running_reqs{model_name=\"m\"} 4\nsglang:num_queue_reqs 2\n"
        "sglang:token_usage 0.5\nsglang:max_total_num_tokens 123456\n");
    EXPECT_EQ(sglang.engine, Engine::SgLang);
    EXPECT_THAT(sglang.load.waiting, Optional(DoubleEq(2)));
    EXPECT_THAT(sglang.load.capacity, Optional(Tokens{123456}));
    const auto llama =
        read_exposition("llamacpp:requests_processing 1\r\nllamacpp:requests_deferred 5\r\n");
    EXPECT_EQ(llama.engine, Engine::LlamaCpp);
    EXPECT_THAT(llama.load.running, Optional(DoubleEq(1)));
    EXPECT_THAT(llama.load.waiting, Optional(DoubleEq(5)));
    EXPECT_EQ(llama.load.capacity, std::nullopt);
    EXPECT_EQ(read_exposition("tgi_queue_size 9\n").engine, Engine::Tgi);
}

TEST(ReadExposition, TakesTheLargestStepThatVllmHasSeen) {
    const char* one_engine =
        "vllm:iteration_tokens_total_bucket{engine=\"0\",le=\"1.0\"} 90\n"
        "vllm:iteration_tokens_total_bucket{engine=\"0\",le=\"1024.0\"} 95\n"
        "vllm:iteration_tokens_total_bucket{engine=\"0\",le=\"2048.0\"} 97\n"
        "vllm:iteration_tokens_total_bucket{engine=\"0\",le=\"4096.0\"} 97\n"
        "vllm:iteration_tokens_total_bucket{engine=\"0\",le=\"+Inf\"} 97\n";
    EXPECT_THAT(read_exposition(one_engine).load.step, Optional(Tokens{2048}));
    const auto two =
        read_exposition(std::string(one_engine) +
                        "vllm:iteration_tokens_total_bucket{engine=\"1\",le=\"1.0\"} 4\n" +
                        "vllm:iteration_tokens_total_bucket{engine=\"1\",le=\"8192.0\"} 5\n");
    EXPECT_THAT(two.load.step, Optional(Tokens{8192}));
    EXPECT_EQ(read_exposition("vllm:iteration_tokens_total_bucket{le=\"1.0\"} 0\n").load.step,
              std::nullopt);
}

TEST(ReadExposition, SkipsWhatItDoesNotUnderstand) {
    const auto read = read_exposition(
        "vllm:num_requests_running{a=\"}\\\"\"} 6\nvllm:num_requests_waiting\n"
        "vllm:num_requests_waiting{open=\"\nvllm:num_requests_waiting NaN\n\n}{ 1\n"
        "vllm:cache_config_info{xnum_gpu_blocks=\"9\",block_size=\"16\"} 1\n"
        "vllm:cache_config_info{block_size=\"16\",num_gpu_blocks=\"None\"} 1\n");
    EXPECT_THAT(read.load.running, Optional(DoubleEq(6)));
    EXPECT_EQ(read.load.waiting, std::nullopt);
    EXPECT_EQ(read.load.capacity, std::nullopt);
}

TEST(ReadModels, TakesNamesAndAdapters) {
    EXPECT_THAT(read_models(R"({"object":"list","data":[{"id":"base"},{"id":"lora","parent":"base"},
                                {"id":7},{"name":"x"},"y"]})"),
                ElementsAre("base", "lora"));
}

TEST(ReadModels, IsEmptyForAnythingElse) {
    for (const char* text : {"", "{", "[]", "{\"data\":{}}", "{\"data\":null}", "<html>"}) {
        EXPECT_THAT(read_models(text), IsEmpty()) << text;
    }
}

TEST(ReadModels, IsBounded) {
    std::string many = "{\"data\":[{\"id\":\"" + std::string(300, 'x') + "\"}";
    for (int i = 0; i < 2000; ++i) {
        many += ",{\"id\":\"m" + std::to_string(i) + "\"}";
    }
    EXPECT_EQ(read_models(many + "]}").size(), 1000U);
}

TEST(ReadCapacity, ReadsSgLangAndLlamaCpp) {
    const auto sglang =
        read_sglang_facts(R"({"max_total_num_tokens": 98304, "chunked_prefill_size": 8192})");
    EXPECT_THAT(sglang.capacity, Optional(Tokens{98304}));
    EXPECT_THAT(sglang.step, Optional(Tokens{8192}));
    EXPECT_EQ(read_sglang_facts(R"({"chunked_prefill_size": -1})").step, std::nullopt);
    const auto props =
        read_llamacpp_facts(R"({"default_generation_settings":{"n_ctx":4096},"total_slots":4})");
    EXPECT_THAT(props.capacity, Optional(Tokens{16384}));
    EXPECT_THAT(props.slots, Optional(4U));
    const auto slots = read_llamacpp_facts(R"([{"id":0,"n_ctx":2048},{"id":1,"n_ctx":2048}])");
    EXPECT_THAT(slots.capacity, Optional(Tokens{4096}));
    EXPECT_THAT(slots.slots, Optional(2U));
}

TEST(ReadCapacity, MoreSlotsThanAnyServerHasAreNotBelieved) {
    const char* text = R"({"default_generation_settings":{"n_ctx":1},"total_slots":4000000000})";
    EXPECT_EQ(read_llamacpp_facts(text).slots, std::nullopt);
}

TEST(ReadCapacity, OfAbsurdNumbersIsBounded) {
    constexpr Tokens kMost = 1'000'000'000'000'000;
    const std::string huge = std::to_string(std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(read_llamacpp_facts(R"({"default_generation_settings":{"n_ctx":)" + huge +
                                  R"(},"total_slots":)" + huge + "}")
                  .capacity,
              kMost);
    EXPECT_EQ(read_llamacpp_facts(R"([{"n_ctx":)" + huge + R"(},{"n_ctx":)" + huge + "}]").capacity,
              kMost);
    EXPECT_EQ(read_sglang_facts(R"({"max_total_num_tokens":)" + huge + "}").capacity, kMost);
    std::string page;
    for (int i = 0; i < 10'000; ++i) {
        page += "sglang:max_total_num_tokens 9.9e14\n";
    }
    EXPECT_EQ(read_exposition(page).load.capacity, kMost);
}

TEST(ReadCapacity, IsUnknownForAnythingElse) {
    for (const char* text : {"", "{}", "[]", "[1]", "{\"default_generation_settings\":3}",
                             "{\"max_total_num_tokens\":\"9\"}", "{\"max_total_num_tokens\":-1}"}) {
        EXPECT_EQ(read_sglang_facts(text).capacity, std::nullopt) << text;
        EXPECT_EQ(read_llamacpp_facts(text).capacity, std::nullopt) << text;
        EXPECT_EQ(read_llamacpp_facts(text).slots, std::nullopt) << text;
    }
}

}  // namespace
}  // namespace prefix_router::proxy
