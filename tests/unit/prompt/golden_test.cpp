#include <gtest/gtest.h>

#include "unit/prompt/prompt_samples.hpp"

namespace prefix_router::prompt::test {
namespace {

/// Pinned: a hash that moves empties every cache that routers with a configured seed share, and
/// moves every home. Change these only with the canonical form, on purpose.
struct Golden {
    Dialect dialect;
    const char* body;
    std::uint64_t last_hash;
    std::uint64_t home;
    std::uint64_t fixed_prefix;
};

const Golden kGolden[] = {
    {Dialect::OpenAiChat,
     R"({"model":"m0","messages":[{"role":"system","content":"You are helpful."},{"role":"user","content":"Caf\u00e9?"}]})",
     228179362916457427U, 3350717935032865493U, 2116870093162408639U},
    {Dialect::OpenAiChat,
     R"({"model":"m0","tools":[{"type":"function","function":{"name":"f"}}],"messages":[{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"http://x/y.png"}}]},{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{\"a\": 1}"}}]},{"role":"tool","tool_call_id":"1","content":"r"}],"chat_template_kwargs":{"enable_thinking":false}})",
     10990607286994060093U, 249862262016269060U, 15524386054159955356U},
    {Dialect::OpenAiCompletions, R"({"model":"m0","prompt":"Once upon a time"})",
     14641884860322662264U, 11920992982817666346U, 4215662788373491387U},
    {Dialect::OpenAiCompletions, R"({"model":"m0","prompt":[1,2,3,100000]})", 1470130027848800007U,
     10919944407299379832U, 17598951505542460499U},
};

TEST(PromptGolden, HashesStayWhatTheyWere) {
    for (const Golden& golden : kGolden) {
        const PromptKey key = key_of(golden.dialect, golden.body);
        ASSERT_FALSE(key.empty());
        EXPECT_EQ(key.hashes.back(), golden.last_hash) << golden.body;
        EXPECT_EQ(key.home, golden.home) << golden.body;
        EXPECT_EQ(key.fixed_prefix, golden.fixed_prefix) << golden.body;
    }
}

TEST(PromptGolden, LongPromptStaysWhatItWas) {
    const PromptKey key =
        key_of(Dialect::OpenAiCompletions, R"({"prompt":")" + words(7, 20'000) + R"("})");
    EXPECT_EQ(key.size(), 102U);
    EXPECT_EQ(key.hashes.back(), 6241567238535056731U);
    EXPECT_EQ(key.home, 17319910301418538889U);
}

}  // namespace
}  // namespace prefix_router::prompt::test
