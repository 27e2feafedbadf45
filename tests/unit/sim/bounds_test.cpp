#include "sim/bounds.hpp"

#include <gtest/gtest.h>

namespace prefix_router::sim {
namespace {

/// Requests of whole 100-token blocks, given by their ids.
Trace trace_of(const std::vector<std::vector<std::uint64_t>>& prompts) {
    Trace trace;
    trace.block_tokens = 100;
    for (const auto& ids : prompts) {
        TraceRequest request;
        request.prompt_tokens = static_cast<Tokens>(ids.size()) * 100 + 1;
        request.first_block = trace.blocks.size();
        request.block_count = ids.size();
        trace.blocks.insert(trace.blocks.end(), ids.begin(), ids.end());
        trace.requests.push_back(request);
    }
    return trace;
}

TEST(Bounds, CountLeadingBlocksSeenBefore) {
    const Trace trace = trace_of({{1, 2}, {1, 3}, {4, 2}});
    const Bounds bounds = compute_bounds(trace, 10'000);
    EXPECT_DOUBLE_EQ(bounds.infinite, 100.0 / 603);
    EXPECT_DOUBLE_EQ(bounds.lru, 100.0 / 603);
}

TEST(Bounds, AnLruCacheForgetsTheOldestLeafFirst) {
    const Trace trace = trace_of({{1, 2, 3}, {7}, {1, 2, 3}});
    EXPECT_DOUBLE_EQ(compute_bounds(trace, 300).lru, 200.0 / 703);
    EXPECT_DOUBLE_EQ(compute_bounds(trace, 300).infinite, 300.0 / 703);
}

TEST(Bounds, WorkLeftCountsPositionsAndOverhead) {
    const Trace trace = trace_of({{1, 2, 3}, {4}});
    EngineOptions engine;
    engine.prefill_rate = 1000;
    engine.overhead = 0.5;
    EXPECT_DOUBLE_EQ(prefill_work_left(trace, engine, 0.25), 0.402 * 0.75 + 1.0);
    engine.attention_length = 200;
    const double attention = (301.0 * 301 + 101.0 * 101) / 400;
    EXPECT_DOUBLE_EQ(prefill_work_left(trace, engine, 0), 0.402 + attention / 1000 + 1.0);
}

}  // namespace
}  // namespace prefix_router::sim
