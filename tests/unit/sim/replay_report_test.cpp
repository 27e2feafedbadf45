#include "sim/replay_report.hpp"

#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace prefix_router::sim {
namespace {

ReplayResult example() {
    ReplayResult result;
    result.strategy = "adaptive";
    result.requests = 12;
    result.token_hit_ratio = 0.25;
    result.expected_over_found = 1.25;
    result.ttft_mean = 1.5;
    result.ttft_p50 = 1;
    result.ttft_p90 = 2;
    result.ttft_p99 = 3;
    result.work_max_over_mean = 1.125;
    result.bound_infinite = 0.5;
    result.bound_lru = 0.375;
    result.span = 10;
    result.ttft = {0.5, 1, 2, 3};
    result.load.resize(2);
    return result;
}

TEST(ReplayReport, JsonHasTheDocumentedFields) {
    const auto json = nlohmann::json::parse(render_json(example()));
    EXPECT_EQ(json["strategy"], "adaptive");
    EXPECT_EQ(json["requests"], 12);
    EXPECT_EQ(json["token_hit_ratio"], 0.25);
    EXPECT_EQ(json["expected_over_found"], 1.25);
    EXPECT_EQ(json["ttft_mean_s"], 1.5);
    EXPECT_EQ(json["ttft_p50_s"], 1.0);
    EXPECT_EQ(json["ttft_p90_s"], 2.0);
    EXPECT_EQ(json["ttft_p99_s"], 3.0);
    EXPECT_EQ(json["work_max_over_mean"], 1.125);
    EXPECT_EQ(json["bound_infinite"], 0.5);
    EXPECT_EQ(json["bound_lru"], 0.375);
    EXPECT_EQ(render_json(example()).find('\n'), std::string::npos);
}

TEST(ReplayReport, TheTableHasARowPerStrategy) {
    const std::string table = render_table({example(), example()});
    EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 3);
    EXPECT_NE(table.find("1.50s"), std::string::npos);
}

TEST(ReplayReport, ThePageIsWholeAndNeedsNothingElse) {
    const std::string page = render_page("a </script><b> trace", {example()});
    EXPECT_EQ(page.find("{{"), page.find("{{", page.size())) << "every mark is filled";
    EXPECT_EQ(page.find("src="), std::string::npos);
    EXPECT_EQ(page.find("href="), std::string::npos);
    EXPECT_EQ(page.find("</script><b>"), std::string::npos) << "names cannot end the data";
    EXPECT_NE(page.find("new uPlot("), std::string::npos);
    EXPECT_NE(page.find("\"ttft_quantiles_s\":[0.5,1.0,2.0,3.0]"), std::string::npos);
}

}  // namespace
}  // namespace prefix_router::sim
