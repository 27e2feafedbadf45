// Requests that wait in the router for their backend: held, released, left.
#include <string>

#include "integration/support/router_test.hpp"

namespace prefix_router::testing {
namespace {

// One backend with one lane that a long prompt keeps busy: the next prompt waits in the router.
class HeldRequest : public RouterTest {
  protected:
    HeldRequest() {
        lanes = 1;
        config.routing.hold = std::chrono::milliseconds(1);
        config.routing.hold_small = std::chrono::milliseconds(0);
    }

    static std::string chat(std::string_view name, std::size_t size) {
        return R"({"model": "m", "messages": [{"role": "user", "content": ")" + std::string(name) +
               std::string(size, 'x') + R"("}]})";
    }
    bool ask(TestClient& client, std::string_view name, std::size_t size = 20'000) {
        return client.request("/v1/chat/completions", chat(name, size));
    }

    Gate finish;
    FakeBackend backend{[this](BackendLine& line, const BackendRequest& request) {
        if (request.body.find("long") != std::string::npos) {
            finish.wait();
        }
        line.answer(R"({"choices": []})", "200 OK", "Content-Type: application/json\r\n");
    }};
};

TEST_F(HeldRequest, IsSentWhenTheBackendIsFree) {
    start({backend.url()});
    TestClient first(port());
    TestClient second(port());
    ASSERT_TRUE(ask(first, "long", 4 << 20));
    ASSERT_TRUE(backend.wait_for_requests(1));
    ASSERT_TRUE(ask(second, "next"));
    ASSERT_TRUE(wait_for_metric("requests_held", 1));
    EXPECT_EQ(backend.requests().size(), 1U);
    finish.open();
    EXPECT_EQ(first.read().status(), 200U);
    EXPECT_EQ(second.read().status(), 200U);
}

TEST_F(HeldRequest, LeavesWithItsClient) {
    start({backend.url()});
    TestClient first(port());
    TestClient second(port());
    ASSERT_TRUE(ask(first, "long", 4 << 20));
    ASSERT_TRUE(backend.wait_for_requests(1));
    ASSERT_TRUE(ask(second, "next"));
    ASSERT_TRUE(wait_for_metric("requests_held", 1));
    second.socket().close();
    EXPECT_TRUE(wait_for_metric("requests_held", 0));
    EXPECT_TRUE(wait_for_metric("client_aborts_total", 1));
    finish.open();
    EXPECT_EQ(first.read().status(), 200U);
    EXPECT_EQ(backend.requests().size(), 1U);
}

TEST_F(HeldRequest, IsNotEndedByTheTimeoutOfTheIdleConnectionBeforeIt) {
    config.timeouts.client_idle = std::chrono::milliseconds(1000);
    start({backend.url()});
    TestClient first(port());
    ASSERT_TRUE(ask(first, "long", 4 << 20));
    ASSERT_TRUE(backend.wait_for_requests(1));
    TestClient second(port());
    ASSERT_TRUE(ask(second, "next", 1000));  // head and body in one read
    ASSERT_TRUE(wait_for_metric("requests_held", 1));
    std::string nothing;
    EXPECT_EQ(second.socket().receive(nothing, std::chrono::milliseconds(2000)), ReadEnd::TimedOut);
    finish.open();
    EXPECT_EQ(first.read().status(), 200U);
    EXPECT_EQ(second.read().status(), 200U);
}

TEST_F(HeldRequest, IsCutByAStop) {
    is_published_to_the_end = false;
    start({backend.url()});
    TestClient first(port());
    TestClient second(port());
    ASSERT_TRUE(ask(first, "long", 4 << 20));
    ASSERT_TRUE(backend.wait_for_requests(1));
    ASSERT_TRUE(ask(second, "next"));
    ASSERT_TRUE(wait_for_metric("requests_held", 1));
    router().stop();
    EXPECT_FALSE(second.read().is_complete);
    finish.open();
}

}  // namespace
}  // namespace prefix_router::testing
