#include "chat_load/report.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace prefix_router::chat_load {
namespace {

Outcome good(Seconds ttft) {
    Outcome outcome;
    outcome.ttft = ttft;
    outcome.latency = ttft + 1;
    outcome.prompt_tokens = 100;
    outcome.cached_tokens = 75;
    return outcome;
}

TEST(Quantile, IsTheValueThatItsShareDoesNotExceed) {
    EXPECT_EQ(quantile_of({}, 0.5), 0);
    EXPECT_EQ(quantile_of({3, 1, 2}, 0.5), 2);
    EXPECT_EQ(quantile_of({4, 3, 1, 2}, 0.5), 2);
    EXPECT_EQ(quantile_of({4, 3, 1, 2}, 0.99), 4);
    EXPECT_EQ(quantile_of({4, 3, 1, 2}, 0), 1);
}

TEST(Report, HasTheFieldsThatTheDemoPromises) {
    net::io_context io;
    const ClientWatch watch(io);
    Tally tally;
    for (const double ttft : {0.0301, 0.02, 0.4}) {
        tally.add(good(ttft), true);
    }
    tally.measured_seconds = 2;
    const auto report = nlohmann::json::parse(json_report("adaptive", tally, watch));
    EXPECT_EQ(report["strategy"], "adaptive");
    EXPECT_EQ(report["token_hit_ratio"], 0.75);
    EXPECT_EQ(report["ttft_mean_ms"], 150.0);
    EXPECT_EQ(report["ttft_p50_ms"], 30.1);
    EXPECT_EQ(report["ttft_p90_ms"], 400.0);
    EXPECT_EQ(report["ttft_p99_ms"], 400.0);
    EXPECT_EQ(report["requests_per_s"], 1.5);
    EXPECT_EQ(report["tokens_not_computed"], 225);
    EXPECT_EQ(report["errors"], 0);
}

TEST(Report, CountsFailuresByKindAndMeasuresOnlyGoodAnswersAfterTheWarmup) {
    net::io_context io;
    const ClientWatch watch(io);
    Tally tally;
    tally.add(good(1), false);
    Outcome refused;
    refused.verdict = Verdict::Status;
    refused.status = 503;
    tally.add(refused, true);
    const auto report = nlohmann::json::parse(json_report("x", tally, watch));
    EXPECT_EQ(report["requests"], 0);
    EXPECT_EQ(report["errors"], 1);
    EXPECT_EQ(report["errors_by_kind"]["status_503"], 1);
    EXPECT_NE(table_report("x", tally, watch).find("error status: 1"), std::string::npos);
}

}  // namespace
}  // namespace prefix_router::chat_load
