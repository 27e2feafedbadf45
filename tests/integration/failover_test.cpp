// Backends fail: what is tried again, where, and what the client sees.
#include <string>
#include <string_view>

#include "integration/support/router_test.hpp"

namespace prefix_router::testing {
namespace {

constexpr std::size_t kLarge = std::size_t{16} << 20;

class BackendFailure : public RouterTest {
  protected:
    BackendFailure() { config.routing.strategy = config::Strategy::RoundRobin; }

    static FakeBackend::Script always(std::string_view body, std::string_view status = "200 OK",
                                      std::string_view fields = {}) {
        return [=](BackendLine& line, const BackendRequest&) { line.answer(body, status, fields); };
    }

    // Starts with `gone` believed healthy and then refusing connections.
    void start_and_lose(FakeBackend& gone, std::vector<std::string> others = {}) {
        others.insert(others.begin(), gone.url());
        start(others);
        gone.refuse();
    }
};

TEST_F(BackendFailure, PooledConnectionsAreUsedAgain) {
    FakeBackend backend;
    start({backend.url()});
    for (std::size_t i = 0; i < 5; ++i) {
        TestClient client(port());
        ASSERT_TRUE(client.request("/x"));
        EXPECT_EQ(client.read().body, "ok");
        const BackendRequest last = backend.requests().back();
        EXPECT_EQ(last.connection, 0U);
        EXPECT_EQ(last.number, i);
    }
    EXPECT_EQ(metric("backend_connects_total"), 1);
}

TEST_F(BackendFailure, AStalePooledConnectionIsReplacedOnce) {
    for (const bool is_reset : {false, true}) {
        FakeBackend backend([is_reset](BackendLine& line, const BackendRequest& request) {
            if (request.number == 0) {
                line.answer("ok");
            } else if (is_reset) {
                line.reset();
            } else {
                line.end();
            }
        });
        config.backends.clear();
        start({backend.url()});
        TestClient client(port());
        for (int i = 0; i < 3; ++i) {
            ASSERT_TRUE(client.request("/x", "hello"));
            const Answer answer = client.read();
            EXPECT_EQ(answer.status(), 200U);
            EXPECT_EQ(backend.requests().back().body, "hello");
        }
        EXPECT_EQ(backend.requests().size(), 5U);
        EXPECT_EQ(metric("retries_total", "stale_connection"), 2);
    }
}

TEST_F(BackendFailure, AConnectionThatTheBackendClosedWhileIdleCostsNothing) {
    Gate answered;
    Gate closed;
    FakeBackend backend([&](BackendLine& line, const BackendRequest&) {
        line.answer("ok");
        answered.wait();
        line.end();
        closed.open();
    });
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.request("/x", "hello"));
    EXPECT_EQ(client.read().body, "ok");
    answered.open();
    ASSERT_TRUE(closed.wait());
    ASSERT_TRUE(client.request("/x", "hello"));
    EXPECT_EQ(client.read().body, "ok");
    EXPECT_EQ(backend.requests().size(), 2U);
}

TEST_F(BackendFailure, ARequestThatKillsItsConnectionsIsNotSentAgainAndAgain) {
    FakeBackend one([](BackendLine& line, const BackendRequest& request) {
        if (request.target() == "/kill") {
            line.reset();
        } else {
            line.answer("ok");
        }
    });
    FakeBackend two([](BackendLine& line, const BackendRequest& request) {
        if (request.target() == "/kill") {
            line.reset();
        } else {
            line.answer("ok");
        }
    });
    start({one.url(), two.url()});
    TestClient client(port());
    for (int i = 0; i < 2; ++i) {  // warm both pools
        ASSERT_TRUE(client.request("/x"));
        EXPECT_EQ(client.read().status(), 200U);
    }
    ASSERT_TRUE(client.request("/kill", "hello"));
    const Answer answer = client.read();
    EXPECT_EQ(answer.status(), 502U);
    std::size_t kills = 0;
    for (const FakeBackend* backend : {&one, &two}) {
        for (const BackendRequest& request : backend->requests()) {
            kills += request.target() == "/kill" ? 1U : 0U;
        }
    }
    EXPECT_LE(kills, 2U);
    ASSERT_TRUE(client.request("/x"));
    EXPECT_EQ(client.read().status(), 200U);
}

TEST_F(BackendFailure, ARefusedConnectionIsTriedElsewhere) {
    FakeBackend gone;
    FakeBackend backend;
    start_and_lose(gone, {backend.url()});
    TestClient client(port());
    for (int i = 0; i < 4; ++i) {
        ASSERT_TRUE(client.request("/x", "hello"));
        EXPECT_EQ(client.read().body, "ok");
        EXPECT_EQ(backend.requests().back().body, "hello");
    }
    EXPECT_EQ(backend.requests().size(), 4U);
    EXPECT_GE(metric("retries_total", "connect_failed"), 1);
}

TEST_F(BackendFailure, WithNobodyToConnectToIsAnError) {
    FakeBackend gone;
    start_and_lose(gone);
    TestClient client(port());
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(client.request("/x", "hello"));
        const Answer answer = client.read();
        EXPECT_EQ(answer.status(), 503U);
        EXPECT_NE(answer.field("Retry-After"), "");
        EXPECT_NE(answer.body.find("connect_refused"), std::string::npos) << answer.body;
    }
}

TEST_F(BackendFailure, AConnectThatTakesTooLongIsTriedElsewhere) {
    FakeBackend deaf;
    FakeBackend backend;
    config.timeouts.connect = std::chrono::milliseconds(300);
    start({deaf.url(), backend.url()});
    deaf.turn_deaf();
    TestClient client(port());
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(client.request("/x", "hello"));
        EXPECT_EQ(client.read().body, "ok");
    }
}

TEST_F(BackendFailure, NothingIsRepeatedAfterTheFirstAnswerByte) {
    for (const std::string_view begin :
         {"H", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello"}) {
        const auto script = [begin](BackendLine& line, const BackendRequest& request) {
            if (request.number == 0) {
                line.answer("ok");
            } else {
                line.send(begin);
                line.reset();
            }
        };
        FakeBackend one(script);
        FakeBackend two(script);
        config.backends.clear();
        start({one.url(), two.url()});
        TestClient client(port());
        for (int i = 0; i < 2; ++i) {
            ASSERT_TRUE(client.request("/x"));
            EXPECT_EQ(client.read().body, "ok");
        }
        ASSERT_TRUE(client.request("/x", "hello"));
        const Answer answer = client.read();
        EXPECT_TRUE(answer.status() != 200 || !answer.is_complete) << begin;
        EXPECT_NE(answer.end, ReadEnd::TimedOut) << begin;
        EXPECT_EQ(one.requests().size() + two.requests().size(), 3U) << begin;
    }
}

TEST_F(BackendFailure, RefusalsAreTriedElsewhereAndTheLastOneStands) {
    FakeBackend full(always("full", "503 Service Unavailable", "Retry-After: 7\r\n"));
    FakeBackend fine(always("fine"));
    start({full.url(), fine.url()});
    TestClient client(port());
    for (int i = 0; i < 4; ++i) {
        ASSERT_TRUE(client.request("/x", "hello"));
        EXPECT_EQ(client.read().body, "fine");
    }
    EXPECT_GE(full.requests().size(), 1U);
    FakeBackend other(always("full", "503 Service Unavailable", "Retry-After: 7\r\n"));
    config.backends.clear();
    start({full.url(), other.url()});
    TestClient second(port());
    ASSERT_TRUE(second.request("/x", "hello"));
    const Answer answer = second.read();
    EXPECT_EQ(answer.status(), 503U);
    EXPECT_EQ(answer.field("Retry-After"), "7");
    EXPECT_EQ(answer.body, "full");
}

TEST_F(BackendFailure, ARefusalStandsWhenTheNextBackendIsUnreachable) {
    FakeBackend full(always("full", "429 Too Many Requests", "retry-after-ms: 1500\r\n"));
    FakeBackend gone;
    start_and_lose(gone, {full.url()});
    TestClient client(port());
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(client.request("/x", "hello"));
        const Answer answer = client.read();
        EXPECT_EQ(answer.status(), 429U);
        EXPECT_EQ(answer.field("retry-after-ms"), "1500");
        EXPECT_EQ(answer.body, "full");
    }
    ASSERT_TRUE(wait_for_metric("requests_in_flight", 0));
    EXPECT_EQ(metric("backend_refusals_total"), 2) << "each refusal counts once";
    EXPECT_EQ(metric("backend_failures_total"), 2) << "and so does each failed dial behind one";
}

TEST_F(BackendFailure, CostsTheBudgetOnlyRetriesThatAreMade) {
    config.health.passive_failures = 1000;
    FakeBackend gone;
    FakeBackend fine;
    for (const FakeBackend* backend : {&gone, &fine}) {
        config.backends.push_back(*config::backend_from_url(backend->url()));
        config.backends.back().models = {"shared"};
    }
    config.backends.front().models.emplace_back("own");
    start({});
    gone.refuse();
    TestClient client(port());
    const auto ask = [&client](const std::string& model) {
        EXPECT_TRUE(client.request("/v1/chat/completions", R"({"model": ")" + model + R"("})"));
        return client.read().status();
    };
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(ask("own"), 503U) << "there is nobody to try it on";
    }
    EXPECT_EQ(metric("retries_over_budget_total"), 0);
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(ask("shared"), 200U);
    }
}

TEST_F(BackendFailure, ClientErrorsBelongToTheClient) {
    FakeBackend one(always("bad", "422 Unprocessable Entity"));
    FakeBackend two(always("bad", "422 Unprocessable Entity"));
    start({one.url(), two.url()});
    TestClient client(port());
    for (std::size_t i = 1; i <= 10; ++i) {
        ASSERT_TRUE(client.request("/x", "hello"));
        const Answer answer = client.read();
        EXPECT_EQ(answer.status(), 422U);
        EXPECT_EQ(answer.body, "bad");
        EXPECT_EQ(one.requests().size() + two.requests().size(), i);
    }
}

TEST_F(BackendFailure, AnEarlyAnswerToAHalfSentRequestIsPassedOn) {
    FakeBackend backend(
        [](BackendLine& line, const BackendRequest&) {
            line.answer("too large", "413 Content Too Large", "Connection: close\r\n");
            EXPECT_TRUE(line.wait_until_left());
        },
        FakeBackend::Reads::HeadsOnly);
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.request("/x", std::string(8 << 20, 'x')));
    const Answer answer = client.read();
    EXPECT_EQ(answer.status(), 413U);
    EXPECT_EQ(answer.body, "too large");
}

TEST_F(BackendFailure, AnAnswerMayBeginBeforeTheRequestHasCome) {
    FakeBackend backend(
        [](BackendLine& line, const BackendRequest& request) {
            line.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n");
            std::string got = request.body;
            while (got.size() < kLarge && line.receive(got) == ReadEnd::Data) {
            }
            EXPECT_EQ(got, std::string(kLarge, 'x')) << "the rest is sent all the same";
            line.send("1\r\nb\r\n0\r\n\r\n");
        },
        FakeBackend::Reads::HeadsOnly);
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.request("/x", std::string(kLarge, 'x')));
    const Answer answer = client.read();
    EXPECT_TRUE(answer.is_complete);
    EXPECT_EQ(answer.body, "ab");
}

}  // namespace
}  // namespace prefix_router::testing
