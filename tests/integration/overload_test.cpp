// More requests than the backends take: who waits, who is refused, and what backends see of it.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "integration/support/router_test.hpp"

namespace prefix_router::testing {
namespace {

/// Backends that take one request at a time, in turn.
class Overloaded : public RouterTest {
  protected:
    Overloaded() {
        config.routing.strategy = config::Strategy::RoundRobin;
        config.limits.max_in_flight_per_backend = 1;
        config.queue.priority_header = "X-Priority";
        config.queue.tenant_header = "X-Tenant";
        config.queue.deadline_header = "X-Deadline";
        config.queue.deadline_unit = config::DeadlineUnit::Milliseconds;
    }

    /// Answers at once, but for /busy, which waits for `finish`.
    FakeBackend::Script busy() {
        return [this](BackendLine& line, const BackendRequest& request) {
            if (request.target() == "/busy") {
                finish.wait();
            }
            line.answer("ok");
        };
    }
    std::unique_ptr<TestClient> ask(std::string_view path, std::string_view fields = {}) {
        auto client = std::make_unique<TestClient>(port());
        EXPECT_TRUE(client->request(path, "hello", fields));
        return client;
    }
    void expect_refused(const Answer& answer, unsigned status, std::string_view code) {
        EXPECT_EQ(answer.status(), status);
        EXPECT_NE(answer.body.find("\"" + std::string(code) + "\""), std::string::npos)
            << answer.body;
        EXPECT_TRUE(wait_for_metric("errors_total", 1, code));
        if (status == 503) {
            const long seconds = std::atol(answer.field("Retry-After").c_str());
            EXPECT_GE(seconds, 1);
            EXPECT_LE(seconds, 60);
        }
    }

    Gate finish;
};

TEST_F(Overloaded, ABackendGetsNoMoreThanItTakesAndTheRestWait) {
    config.limits.max_in_flight_per_backend = 2;
    FakeBackend backend(busy());
    start({backend.url()});
    std::vector<std::unique_ptr<TestClient>> clients;
    for (int i = 0; i < 6; ++i) {
        clients.push_back(ask("/busy"));
    }
    ASSERT_TRUE(backend.wait_for_requests(2));
    ASSERT_TRUE(wait_for_metric("requests_held", 4));
    EXPECT_EQ(metric("held_bytes"), 20);
    EXPECT_EQ(metric("backend_in_flight"), 2);
    EXPECT_EQ(metric("backend_max_in_flight"), 2);
    EXPECT_EQ(backend.requests().size(), 2U);
    finish.open();
    for (const auto& client : clients) {
        EXPECT_EQ(client->read().status(), 200U);
    }
    EXPECT_EQ(backend.requests().size(), 6U);
    EXPECT_TRUE(wait_for_metric("held_seconds_count", 4, "normal"));
}

TEST_F(Overloaded, AFullQueueIsSaidToBeFull) {
    config.queue.max_requests = 1;
    FakeBackend backend(busy());
    start({backend.url()});
    const auto running = ask("/busy");
    ASSERT_TRUE(backend.wait_for_requests(1));
    const auto waiting = ask("/x");
    ASSERT_TRUE(wait_for_metric("requests_held", 1));
    const auto refused = ask("/x");
    expect_refused(refused->read(), 503, "queue_full");
    finish.open();
    EXPECT_EQ(running->read().status(), 200U);
    EXPECT_EQ(waiting->read().status(), 200U);
    ASSERT_TRUE(refused->request("/x")) << "its connection stays";
    EXPECT_EQ(refused->read().status(), 200U);
}

TEST_F(Overloaded, TheQueueIsBoundedByTheBytesThatItHolds) {
    config.limits.body_bytes = 1024;
    config.queue.max_bytes = 1024;
    FakeBackend backend(busy());
    start({backend.url()});
    const auto running = ask("/busy");
    ASSERT_TRUE(backend.wait_for_requests(1));
    TestClient large(port());
    ASSERT_TRUE(large.request("/x", std::string(1020, 'x')));
    ASSERT_TRUE(wait_for_metric("held_bytes", 1020));
    expect_refused(ask("/x")->read(), 503, "queue_full");
    finish.open();
    EXPECT_EQ(running->read().status(), 200U);
    EXPECT_EQ(large.read().status(), 200U);
}

TEST_F(Overloaded, AHigherPriorityGoesFirstAndTakesAPlaceInAFullQueue) {
    config.queue.max_requests = 2;
    FakeBackend backend(busy());
    start({backend.url()});
    const auto running = ask("/busy");
    ASSERT_TRUE(backend.wait_for_requests(1));
    const auto low = ask("/low", "X-Priority: low\r\n");
    ASSERT_TRUE(wait_for_metric("requests_held", 1, "low"));
    const auto lower = ask("/lower", "X-Priority: low\r\n");
    ASSERT_TRUE(wait_for_metric("requests_held", 2, "low"));
    const auto high = ask("/high", "X-Priority: high\r\n");
    expect_refused(lower->read(), 503, "queue_displaced");
    EXPECT_EQ(metric("requests_held", "high"), 1);
    finish.open();
    EXPECT_EQ(running->read().status(), 200U);
    EXPECT_EQ(high->read().status(), 200U);
    EXPECT_EQ(low->read().status(), 200U);
    const auto seen = backend.requests();
    ASSERT_EQ(seen.size(), 3U);
    EXPECT_EQ(seen[1].target(), "/high");
    EXPECT_EQ(seen[1].field("X-Priority"), "high") << "passed on as it came";
    EXPECT_EQ(seen[2].target(), "/low");
}

TEST_F(Overloaded, AnothersFirstRequestPassesATenantsMany) {
    FakeBackend backend(busy());
    start({backend.url()});
    const auto running = ask("/busy");
    ASSERT_TRUE(backend.wait_for_requests(1));
    std::vector<std::unique_ptr<TestClient>> many;
    for (int i = 1; i <= 20; ++i) {
        many.push_back(ask("/many", "X-Tenant: a\r\n"));
    }
    ASSERT_TRUE(wait_for_metric("requests_held", 20));
    const auto first = ask("/first", "X-Tenant: b\r\n");
    ASSERT_TRUE(wait_for_metric("requests_held", 21));
    finish.open();
    EXPECT_EQ(first->read().status(), 200U);
    for (const auto& client : many) {
        EXPECT_EQ(client->read().status(), 200U);
    }
    EXPECT_EQ(backend.requests().at(2).target(), "/first");
}

TEST_F(Overloaded, ADeadlineThatPassesInTheQueueEndsTheWait) {
    FakeBackend backend(busy());
    start({backend.url()});
    const auto running = ask("/busy");
    ASSERT_TRUE(backend.wait_for_requests(1));
    expect_refused(ask("/x", "X-Deadline: 200\r\n")->read(), 504, "deadline_exceeded");
    finish.open();
    EXPECT_EQ(running->read().status(), 200U);
    EXPECT_EQ(backend.requests().size(), 1U);
}

TEST_F(Overloaded, AWaitEndsWithTheLongestThatIsAllowed) {
    config.queue.max_wait = std::chrono::milliseconds(200);
    FakeBackend backend(busy());
    start({backend.url()});
    const auto running = ask("/busy");
    ASSERT_TRUE(backend.wait_for_requests(1));
    expect_refused(ask("/x")->read(), 503, "queue_timeout");
    finish.open();
    EXPECT_EQ(running->read().status(), 200U);
    EXPECT_EQ(backend.requests().size(), 1U);
}

TEST_F(Overloaded, AClientThatLeavesTheQueueFreesItsPlace) {
    config.queue.max_requests = 1;
    FakeBackend backend(busy());
    start({backend.url()});
    const auto running = ask("/busy");
    ASSERT_TRUE(backend.wait_for_requests(1));
    auto leaves = ask("/left");
    ASSERT_TRUE(wait_for_metric("requests_held", 1));
    leaves.reset();
    ASSERT_TRUE(wait_for_metric("requests_held", 0));
    EXPECT_EQ(metric("held_bytes"), 0);
    const auto stays = ask("/x");
    ASSERT_TRUE(wait_for_metric("requests_held", 1));
    finish.open();
    EXPECT_EQ(running->read().status(), 200U);
    EXPECT_EQ(stays->read().status(), 200U);
    EXPECT_EQ(backend.requests().at(1).target(), "/x");
}

TEST_F(Overloaded, AFailOverWaitsForRoom) {
    FakeBackend gone;
    FakeBackend backend(busy());
    start({gone.url(), backend.url()});
    gone.refuse();
    const auto one = ask("/busy");
    const auto two = ask("/busy");  // one of the two was sent to who is gone
    ASSERT_TRUE(backend.wait_for_requests(1));
    ASSERT_TRUE(wait_for_metric("requests_held", 1));
    EXPECT_EQ(backend.requests().size(), 1U);
    finish.open();
    EXPECT_EQ(one->read().status(), 200U);
    EXPECT_EQ(two->read().status(), 200U);
    EXPECT_GE(metric("retries_total", "connect_failed"), 1);
}

TEST_F(Overloaded, ARefusedRequestWaitsForAnotherBackendForAsLongAsItTakes) {
    config.timeouts.first_byte = std::chrono::milliseconds(500);
    Gate never;
    FakeBackend refusing([&](BackendLine& line, const BackendRequest& request) {
        if (request.target() == "/silent") {
            never.wait();
        } else {
            line.answer("full", "503 Service Unavailable");
        }
    });
    FakeBackend backend([this](BackendLine& line, const BackendRequest& request) {
        if (request.target() == "/busy") {
            line.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no");
            finish.wait();
            line.send("k");
        } else {
            line.answer("ok");
        }
    });
    start({refusing.url(), backend.url()});
    const auto running = ask("/busy");  // refused by the one, taken by the other
    ASSERT_TRUE(backend.wait_for_requests(1));
    const auto waiting = ask("/x");
    ASSERT_TRUE(wait_for_metric("requests_held", 1));
    // A request that is sent after it began to wait sees the first byte's time run out.
    EXPECT_EQ(ask("/silent")->read().status(), 504U);
    EXPECT_EQ(metric("requests_held"), 1);
    finish.open();
    never.open();
    EXPECT_EQ(running->read().status(), 200U);
    const Answer answer = waiting->read();
    EXPECT_EQ(answer.status(), 200U);
    EXPECT_EQ(answer.body, "ok");
}

TEST_F(Overloaded, WhatWasRefusedEverywhereGetsTheEnginesWords) {
    config.queue.max_requests = 0;
    FakeBackend refusing([](BackendLine& line, const BackendRequest&) {
        line.answer("engine is full", "503 Service Unavailable", "Retry-After: 7\r\n");
    });
    FakeBackend backend(busy());
    start({refusing.url(), backend.url()});
    const auto running = ask("/busy");  // refused by the one, taken by the other
    ASSERT_TRUE(backend.wait_for_requests(1));
    const Answer answer = ask("/x")->read();
    EXPECT_EQ(answer.status(), 503U);
    EXPECT_EQ(answer.body, "engine is full");
    EXPECT_EQ(answer.field("Retry-After"), "7");
    finish.open();
    EXPECT_EQ(running->read().status(), 200U);
}

TEST_F(Overloaded, BackendsThatAllRefuseGetNoStorm) {
    const auto refuse = [](BackendLine& line, const BackendRequest&) {
        line.answer("full", "503 Service Unavailable");
    };
    std::vector<std::unique_ptr<FakeBackend>> backends;
    std::vector<std::string> urls;
    for (int i = 0; i < 6; ++i) {
        backends.push_back(std::make_unique<FakeBackend>(refuse));
        urls.push_back(backends.back()->url());
    }
    start(urls);
    constexpr std::size_t kClients = 8;
    constexpr std::size_t kEach = 50;
    std::vector<std::thread> clients;
    for (std::size_t i = 0; i < kClients; ++i) {
        clients.emplace_back([this] {
            TestClient client(port());
            for (std::size_t k = 0; k < kEach; ++k) {
                EXPECT_TRUE(client.request("/x", "hello"));
                EXPECT_EQ(client.read().status(), 503U);
            }
        });
    }
    for (std::thread& client : clients) {
        client.join();
    }
    std::size_t attempts = 0;
    for (const auto& backend : backends) {
        attempts += backend->requests().size();
    }
    constexpr std::size_t kRequests = kClients * kEach;
    EXPECT_GE(attempts, kRequests);
    EXPECT_LE(attempts, kRequests + kRequests / 5 + 50) << "a fifth again, and the budget's loan";
}

TEST_F(Overloaded, BackendsThatAreAllDownGetNoStorm) {
    std::vector<std::unique_ptr<FakeBackend>> gone;
    std::vector<std::string> urls;
    for (int i = 0; i < 6; ++i) {
        gone.push_back(std::make_unique<FakeBackend>());
        urls.push_back(gone.back()->url());
    }
    start(urls);
    for (const auto& backend : gone) {
        backend->refuse();
    }
    constexpr std::size_t kRequests = 200;
    std::vector<std::unique_ptr<TestClient>> clients;
    for (std::size_t i = 0; i < kRequests; ++i) {
        clients.push_back(ask("/x"));
    }
    for (const auto& client : clients) {
        EXPECT_EQ(client->read().status(), 503U);
    }
    EXPECT_LE(metric("backend_connects_total"), kRequests * 1.2 + 50);
}

TEST_F(Overloaded, TheAdminListenerShowsLimitsQueueAndPriorities) {
    FakeBackend backend(busy());
    start({backend.url()});
    const auto running = ask("/busy", "X-Priority: high\r\n");
    ASSERT_TRUE(backend.wait_for_requests(1));
    const auto waiting = ask("/x", "X-Priority: low\r\n");
    ASSERT_TRUE(wait_for_metric("requests_held", 1));
    const std::string backends = admin("/backends").body;
    EXPECT_NE(backends.find("\"max_in_flight\": 1"), std::string::npos) << backends;
    EXPECT_NE(backends.find("\"low\": 1"), std::string::npos) << backends;
    EXPECT_NE(backends.find("\"held_bytes\": 5"), std::string::npos) << backends;
    EXPECT_NE(admin("/decisions").body.find("\"priority\": \"high\""), std::string::npos);
    finish.open();
    EXPECT_EQ(running->read().status(), 200U);
    EXPECT_EQ(waiting->read().status(), 200U);
}

}  // namespace
}  // namespace prefix_router::testing
