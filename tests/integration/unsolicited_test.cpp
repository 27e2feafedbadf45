// Bytes that a backend sends although nobody asked: never the answer to the next request.
#include <string>
#include <thread>

#include "integration/support/router_test.hpp"

namespace prefix_router::testing {
namespace {

/// More than the sockets between router and backend take while the backend does not read.
constexpr std::size_t kHuge = std::size_t{16} << 20;

class UnsolicitedAnswer : public RouterTest {};

TEST_F(UnsolicitedAnswer, IsDroppedWithItsConnectionWhileTheRequestIsBeingSent) {
    Gate is_sending;
    FakeBackend backend([&](BackendLine& line, const BackendRequest& request) {
        line.answer("ok");
        if (request.connection == 0) {
            is_sending.wait();  // the next request is under way, and not read
            line.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong");
        }
    });
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.request("/a"));
    EXPECT_EQ(client.read().body, "ok");
    TestClient other(port());
    std::thread sender([&] { other.request("/b", std::string(kHuge, 'x')); });
    EXPECT_TRUE(wait_for_metric("backend_requests_total", 2));
    is_sending.open();
    const Answer answer = other.read();
    sender.join();
    EXPECT_EQ(answer.status(), 200U);
    EXPECT_EQ(answer.body, "ok");
    ASSERT_TRUE(backend.wait_for_requests(2));
    EXPECT_EQ(backend.requests().back().connection, 1U);
    EXPECT_EQ(backend.requests().back().body.size(), kHuge);
}

}  // namespace
}  // namespace prefix_router::testing
