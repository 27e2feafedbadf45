#include "chat_load/trace_prompt.hpp"

#include <gtest/gtest.h>

namespace prefix_router::chat_load {
namespace {

constexpr Tokens kBlock = 64;
constexpr std::size_t kBlockBytes = 256;

// Requests of the given lengths over the given recorded ids, all from the same first blocks.
sim::Trace trace_of(const std::vector<Tokens>& lengths) {
    sim::Trace trace;
    trace.block_tokens = kBlock;
    trace.recorded_ids = {46, 47, 48};
    for (const Tokens tokens : lengths) {
        sim::TraceRequest request;
        request.prompt_tokens = tokens;
        request.first_block = trace.blocks.size();
        request.block_count = static_cast<std::size_t>(tokens / kBlock);
        for (std::size_t k = 0; k < request.block_count; ++k) trace.blocks.push_back(k);
        trace.requests.push_back(request);
    }
    return trace;
}

TEST(TracePrompt, HasFourBytesAToken) {
    const sim::Trace trace = trace_of({200, 3});
    EXPECT_EQ(prompt_text(trace, 0).size(), 800U);
    EXPECT_EQ(prompt_text(trace, 1).size(), 12U);
}

TEST(TracePrompt, SharesTheFullBlocksThatTheTraceSharesAndNothingElse) {
    const sim::Trace trace = trace_of({150, 160});
    const std::string a = prompt_text(trace, 0);
    const std::string b = prompt_text(trace, 1);
    EXPECT_EQ(a.substr(0, 2 * kBlockBytes), b.substr(0, 2 * kBlockBytes));
    EXPECT_NE(a.substr(2 * kBlockBytes, 32), b.substr(2 * kBlockBytes, 32));
}

TEST(TracePrompt, GivesTheSameIdTheSameTextInEveryPlace) {
    sim::Trace trace = trace_of({128});
    trace.recorded_ids = {46, 46};
    const std::string text = prompt_text(trace, 0);
    EXPECT_EQ(text.substr(0, kBlockBytes), text.substr(kBlockBytes));
}

}  // namespace
}  // namespace prefix_router::chat_load
