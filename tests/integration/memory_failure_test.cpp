// Memory that is not there, at every place where a request asks for some: it costs this request, or
// its connection, and nothing else.
#include <algorithm>
#include <string>

#include "integration/support/router_test.hpp"
#include "support/failing_memory.hpp"

namespace prefix_router::testing {
namespace {

class MemoryFailure : public RouterTest {
  protected:
    /// The router's own threads can be told from those of clients and backends.
    void start_with_victims() {
        const auto others = threads();
        launch({backend.url()});
        auto victims = threads();
        std::erase_if(victims, [&](long thread) {
            return std::ranges::find(others, thread) != others.end();
        });
        set_victims(victims);
        ASSERT_TRUE(wait_for_metric("backend_healthy", 1));
    }
    void TearDown() override {
        stop_failing();
        RouterTest::TearDown();
        set_victims({});
    }

    /// Asks with the nth allocation failing, for each until there is none left to fail.
    template <class Ask>
    void fail_each(Ask ask) {
        constexpr long kFewest = 10;
        constexpr long kMost = 5'000;
        for (long nth = 1; nth <= kMost; ++nth) {
            fail_allocation(nth);
            const unsigned status = ask();
            const bool is_over = stop_failing();
            EXPECT_TRUE(status == 200 || status == 503 || status == 0) << nth << ": " << status;
            TestClient other(port());
            ASSERT_TRUE(other.request("/x")) << nth;
            ASSERT_EQ(other.read().status(), 200U) << nth;
            if (is_over) {
                EXPECT_EQ(status, 200U);
                EXPECT_GT(nth, kFewest);
                return;
            }
        }
        FAIL() << "a request asks for memory without end";
    }

    FakeBackend backend{[](BackendLine& line, const BackendRequest& request) {
        if (request.target() == "/x") {
            line.answer("ok");
            return;
        }
        line.answer("data: {\"choices\": [{\"delta\": {\"content\": \"" + std::string(2'000, 'y') +
                        "\"}}]}\n\ndata: {\"choices\": [], \"usage\": {\"prompt_tokens\": 1000, "
                        "\"completion_tokens\": 500, \"prompt_tokens_details\": "
                        "{\"cached_tokens\": 512}}}\n\ndata: [DONE]\n\n",
                    "200 OK", "Content-Type: text/event-stream\r\n");
    }};
};

TEST_F(MemoryFailure, CostsARequestAndNothingElse) {
    start_with_victims();
    fail_each([this] {
        TestClient client(port());
        client.request(
            "/v1/chat/completions",
            R"({"model": "m", "stream": true, "messages": [{"role": "user", "content": ")" +
                std::string(4'000, 'x') + R"("}]})");
        return client.read().status();
    });
}

}  // namespace
}  // namespace prefix_router::testing
