// What the router holds at a time is bounded: bodies in memory, connections.
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "integration/support/router_test.hpp"

namespace prefix_router::testing {
namespace {

class Limits : public RouterTest {
  protected:
    static std::string head(std::size_t body) {
        return "POST /x HTTP/1.1\r\nHost: r\r\nContent-Length: " + std::to_string(body) +
               "\r\n\r\n";
    }
    FakeBackend backend;
};

constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST_F(Limits, BodiesBeyondTheMemoryBudgetWaitAndAreThenServed) {
    config.limits.buffered_bytes = 2 * kMiB;
    config.limits.body_bytes = 2 * kMiB;
    start({backend.url()});
    TestClient first(port());
    ASSERT_TRUE(first.send(head(2 * kMiB) + std::string(2 * kMiB - 1, 'x')));
    ASSERT_TRUE(wait_for_metric("buffered_bytes", 2 * kMiB));
    TestClient second(port());
    ASSERT_TRUE(second.send(head(kMiB)));
    const std::size_t taken =
        second.socket().send_until_stuck(std::string(kMiB, 'y'), 1, std::chrono::milliseconds(500));
    EXPECT_EQ(metric("buffered_bytes"), 2 * kMiB) << "nothing beyond the budget is read";
    ASSERT_TRUE(first.send("x"));
    EXPECT_EQ(first.read().status(), 200U);
    ASSERT_TRUE(second.send(std::string(kMiB - taken, 'y')));
    EXPECT_EQ(second.read().status(), 200U);
    EXPECT_EQ(backend.requests().at(1).body, std::string(kMiB, 'y'));
}

TEST_F(Limits, ABodyThatFindsNoMemoryInTimeIsRefusedAndTheOthersAreNot) {
    config.limits.buffered_bytes = kMiB;
    config.limits.body_bytes = kMiB;
    start({backend.url()});
    TestClient first(port());
    ASSERT_TRUE(first.send(head(kMiB) + std::string(kMiB - 1, 'x')));
    ASSERT_TRUE(wait_for_metric("buffered_bytes", kMiB));
    TestClient second(port());
    ASSERT_TRUE(second.send(head(1000) + std::string(1000, 'y')));
    const Answer refused = second.read();
    EXPECT_EQ(refused.status(), 503U);
    EXPECT_NE(refused.field("Retry-After"), "");
    EXPECT_NE(refused.body.find("overloaded"), std::string::npos);
    TestClient third(port());
    ASSERT_TRUE(third.request("/x")) << "without a body nothing is needed";
    EXPECT_EQ(third.read().status(), 200U);
    ASSERT_TRUE(first.send("x"));
    EXPECT_EQ(first.read().status(), 200U);
}

TEST_F(Limits, HalfReadBodiesThatHoldAllMemoryAreCompletedOneByOne) {
    config.limits.buffered_bytes = 7 * kMiB;
    config.limits.body_bytes = 4 * kMiB;
    start({backend.url()});
    std::vector<std::unique_ptr<TestClient>> clients;
    for (int i = 0; i < 3; ++i) {  // the third finds the half that is not kept back used up
        clients.push_back(std::make_unique<TestClient>(port()));
        ASSERT_TRUE(clients.back()->send(head(3 * kMiB) + std::string(kMiB, 'x')));
    }
    ASSERT_TRUE(wait_until([&] { return metric("buffered_bytes") >= 7 * kMiB / 2 - 256 * 1024; }));
    std::vector<std::thread> senders;
    for (const auto& client : clients) {
        senders.emplace_back([&client] { client->send(std::string(2 * kMiB, 'x')); });
    }
    for (const auto& client : clients) {
        EXPECT_EQ(client->read().status(), 200U);
    }
    for (std::thread& sender : senders) {
        sender.join();
    }
}

TEST_F(Limits, BuffersKeptForTheNextBodiesAreBoundedToo) {
    config.limits.buffered_bytes = 2 * kMiB;
    config.limits.body_bytes = 2 * kMiB;
    start({backend.url()});
    TestClient client(port());
    for (const std::size_t size : {2 * kMiB, kMiB, kMiB / 2}) {
        ASSERT_TRUE(client.request("/x", std::string(size, 'x')));
        EXPECT_EQ(client.read().status(), 200U);
    }
    EXPECT_TRUE(wait_for_metric("spare_buffer_bytes", 2 * kMiB)) << metric("spare_buffer_bytes");
}

TEST_F(Limits, AnAnnouncedBodyTakesNoMemoryUntilItComes) {
    config.limits.buffered_bytes = 64 * kMiB;
    start({backend.url()});
    std::vector<std::unique_ptr<TestClient>> clients;
    for (int i = 0; i < 100; ++i) {
        clients.push_back(std::make_unique<TestClient>(port()));
        ASSERT_TRUE(clients.back()->send(head(64 * kMiB)));
    }
    ASSERT_TRUE(wait_for_metric("connections", 100));
    EXPECT_LE(metric("buffered_bytes"), 100 * 256 * 1024);
    TestClient other(port());
    ASSERT_TRUE(other.request("/x", "hello"));
    EXPECT_EQ(other.read().status(), 200U);
}

TEST_F(Limits, ConnectionsBeyondTheirLimitWaitToBeAccepted) {
    config.limits.connections = 3;
    start({backend.url()});
    std::vector<std::unique_ptr<TestClient>> clients;
    for (int i = 0; i < 3; ++i) {
        clients.push_back(std::make_unique<TestClient>(port()));
        ASSERT_TRUE(clients.back()->request("/x"));
        EXPECT_EQ(clients.back()->read().status(), 200U);
    }
    TestClient fourth(port());
    ASSERT_TRUE(fourth.request("/x"));
    std::string nothing;
    EXPECT_EQ(fourth.socket().receive(nothing, std::chrono::milliseconds(600)), ReadEnd::TimedOut);
    EXPECT_EQ(metric("connections"), 3);
    ASSERT_TRUE(clients[1]->request("/x")) << "those that are in go on";
    EXPECT_EQ(clients[1]->read().status(), 200U);
    clients.pop_back();
    EXPECT_EQ(fourth.read().status(), 200U);
}

}  // namespace
}  // namespace prefix_router::testing
