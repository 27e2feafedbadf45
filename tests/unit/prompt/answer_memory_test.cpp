#include <malloc.h>

#include <cstddef>
#include <string>

#include <gtest/gtest.h>

#include "unit/prompt/prompt_samples.hpp"

// GCC 12 has no <sanitizer/allocator_interface.h>.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();
#endif

namespace prefix_router::prompt::test {
namespace {

std::size_t allocated_bytes() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return __sanitizer_get_current_allocated_bytes();
#else
    const struct mallinfo2 allocated = mallinfo2();
    return allocated.uordblks + allocated.hblkhd;
#endif
}

TEST(AnswerMemory, DoesNotGrowWithTheNameOfATool) {
    const RequestFacts request =
        read(Dialect::OpenAiChat, R"({"messages":[{"role":"user","content":"x"}]})");
    AnswerReader reader(request.dialect, AnswerReader::Format::ServerSentEvents, request.key, true);
    const std::string piece(64 * 1024, 'f');
    const std::size_t before = allocated_bytes();
    reader.feed(R"(data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":")");
    for (int i = 0; i < 128; ++i) reader.feed(piece);
    EXPECT_LT(allocated_bytes(), before + 1024 * 1024);
    reader.feed(as_events({R"("}}]}}]})", R"({"choices":[{"delta":{},"finish_reason":"stop"}]})"}));
    EXPECT_TRUE(reader.finish(true).hashes.empty());
}

}  // namespace
}  // namespace prefix_router::prompt::test
