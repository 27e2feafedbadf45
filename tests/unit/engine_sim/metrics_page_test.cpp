#include "engine_sim/metrics_page.hpp"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace prefix_router::engine_sim {
namespace {

TEST(MetricsPage, ShowsTheEngineUnderTheNamesOfVllm) {
    sim::EngineOptions options;
    options.block_tokens = 16;
    options.kv_tokens = 16 * 100 + 5;
    sim::Engine engine(options);
    std::vector<std::uint64_t> blocks(10);
    std::iota(blocks.begin(), blocks.end(), 1);
    sim::Engine::Request request;
    request.blocks = blocks;
    request.prompt_tokens = 165;
    request.output_tokens = 8;
    engine.submit(request, 0.0);
    engine.advance(100.0);
    engine.submit(request, 100.0);  // 160 tokens cached
    engine.submit(request, 100.0);  // waits
    engine.advance(100.0);

    ServerCounters counters;
    counters.aborts = 3;
    const std::string page = metrics_page(engine, counters, "a \"model\"");
    const auto has = [&page](const std::string& name, const std::string& rest) {
        const std::string labels = R"({engine="0",model_name="a \"model\"")";
        return page.find("\n" + name + labels + rest + "\n") != std::string::npos;
    };
    EXPECT_TRUE(has("vllm:num_requests_running", "} 1"));
    EXPECT_TRUE(has("vllm:num_requests_waiting", "} 1"));
    EXPECT_TRUE(has("vllm:prefix_cache_queries_total", "} 330"));
    EXPECT_TRUE(has("vllm:prefix_cache_hits_total", "} 160"));
    EXPECT_TRUE(has("vllm:kv_cache_usage_perc", "} 0.12"));
    EXPECT_TRUE(has("vllm:request_success_total", R"(,finished_reason="abort"} 3)"));
    EXPECT_TRUE(has("vllm:cache_config_info",
                    R"(,block_size="16",num_gpu_blocks="100",kv_cache_size_tokens="1600",)"
                    R"(enable_prefix_caching="True"} 1)"));
    const std::string silent = metrics_page(engine, counters, "m", false);
    EXPECT_EQ(silent.find("vllm:cache_config_info"), std::string::npos);
}

}  // namespace
}  // namespace prefix_router::engine_sim
