// Who gets requests: probes, failures, recovery, and the models that backends serve.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "integration/support/router_test.hpp"

namespace prefix_router::testing {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kLoading = "503 Service Unavailable";
constexpr std::string_view kFine = "200 OK";

class Health : public RouterTest {
  protected:
    Health() {
        config.routing.strategy = config::Strategy::RoundRobin;
        probe_often();
        config.health.ejection = milliseconds(200);
    }

    unsigned status_of(std::string_view target, std::string_view body = "hello") {
        TestClient client(port());
        EXPECT_TRUE(client.request(target, body));
        return client.read().status();
    }
    static std::string chat(const std::string& model) {
        return R"({"model": ")" + model + R"(", "messages": [{"role": "user", "content": "hi"}]})";
    }
    unsigned ready() const { return admin("/readyz").status(); }
    bool wait_until_ready(unsigned status) const {
        return wait_for_metric("backend_healthy", status == 200 ? 1 : 0) && ready() == status;
    }
};

TEST_F(Health, WithNobodyUpTheStartSucceedsAndRequestsAreToldAtOnce) {
    FakeBackend gone;
    const std::string url = gone.url();
    gone.refuse();
    launch({url});
    ASSERT_TRUE(wait_for_metric("panic", 1));
    EXPECT_EQ(ready(), 503U);
    EXPECT_EQ(admin("/healthz").status(), 200U) << "alive all the same";
    TestClient client(port());
    ASSERT_TRUE(client.request("/v1/chat/completions", chat("m")));
    const Answer answer = client.read();
    EXPECT_EQ(answer.status(), 503U);
    EXPECT_NE(answer.field("Retry-After"), "");
    EXPECT_NE(answer.body.find("\"error\""), std::string::npos);
    EXPECT_EQ(answer.body.find("127.0.0.1"), std::string::npos) << answer.body;
}

TEST_F(Health, ABackendThatStillLoadsGetsNothing) {
    FakeBackend loading([](BackendLine& line, const BackendRequest&) { line.answer("too early"); });
    FakeBackend good;
    loading.answer_probes("/health", std::string(kLoading));
    launch({loading.url(), good.url()});
    ASSERT_TRUE(wait_for_metric("backend_healthy", 1));
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(status_of("/x"), 200U);
    }
    EXPECT_TRUE(loading.requests().empty());
    loading.answer_probes("/health", std::string(kFine));
    ASSERT_TRUE(wait_for_metric("backend_healthy", 2));
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(status_of("/x"), 200U);
    }
    EXPECT_EQ(loading.requests().size(), 5U);
}

TEST_F(Health, OneBadBackendHoldsUpNeitherTheStartNorTheOthers) {
    FakeBackend gone;
    FakeBackend silent;
    FakeBackend good;
    const std::string gone_url = gone.url();
    gone.refuse();
    silent.turn_deaf();
    launch({gone_url, silent.url(), good.url()});
    ASSERT_TRUE(wait_for_metric("backend_healthy", 1));
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(status_of("/x"), 200U);
    }
    EXPECT_EQ(good.requests().size(), 10U);
}

TEST_F(Health, ABackendIsLeftAfterFailedProbesAndComesBackByItself) {
    FakeBackend backend;
    start({backend.url()});
    EXPECT_EQ(ready(), 200U);
    backend.answer_probes("/health", std::string(kLoading));
    EXPECT_TRUE(wait_until_ready(503));
    EXPECT_GE(metric("backend_probe_failures_total"), 3);
    backend.answer_probes("/health", std::string(kFine));
    EXPECT_TRUE(wait_until_ready(200));
    EXPECT_EQ(status_of("/x"), 200U);
}

TEST_F(Health, AServerThatKnowsNoHealthPathIsUpAsLongAsItAnswers) {
    FakeBackend backend;
    backend.answer_probes("/health", "404 Not Found");
    backend.answer_probes("/ping", "405 Method Not Allowed");
    launch({backend.url()});
    EXPECT_TRUE(wait_until_ready(200));
    backend.answer_probes("/ping", std::string(kLoading));
    EXPECT_TRUE(wait_until_ready(503)) << "a server that knows /ping is asked what it says";
}

TEST_F(Health, AConfiguredPathMustBeKnown) {
    FakeBackend backend;
    backend.answer_probes("/health", "404 Not Found");
    config.health.path = "/own/health";
    launch({backend.url()});
    ASSERT_TRUE(backend.wait_for_probes("/health", 3));
    EXPECT_EQ(ready(), 503U);
    backend.answer_probes("/health", std::string(kFine));
    EXPECT_TRUE(wait_until_ready(200));
}

TEST_F(Health, WhatIsUnderWayAtAnEjectedBackendGoesOn) {
    Gate finish;
    FakeBackend backend([&finish](BackendLine& line, const BackendRequest&) {
        line.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n");
        finish.wait();
        line.send("1\r\nb\r\n0\r\n\r\n");
    });
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.request("/x", "hello"));
    ASSERT_TRUE(client.read_until("1\r\na\r\n"));
    backend.answer_probes("/health", std::string(kLoading));
    ASSERT_TRUE(wait_for_metric("backend_healthy", 0));
    EXPECT_EQ(metric("backend_in_flight"), 1) << "probes change no count";
    finish.open();
    const Answer answer = client.read();
    EXPECT_TRUE(answer.is_complete);
    EXPECT_EQ(answer.body, "ab");
}

TEST_F(Health, AStoppedBackendIsTriedAFewTimesAndThenOnlyProbed) {
    FakeBackend gone;
    FakeBackend good;
    config.health.ejection = std::chrono::hours(1);
    config.health.failures = 1000;  // requests find out, not probes
    start({gone.url(), good.url()});
    gone.refuse();
    for (int i = 0; i < 40; ++i) {
        EXPECT_EQ(status_of("/x"), 200U);
    }
    EXPECT_EQ(good.requests().size(), 40U);
    const double dials = metric("backend_failures_total");
    EXPECT_GE(dials, 1) << "every failed dial is counted";
    EXPECT_LE(dials, 3);
    EXPECT_EQ(metric("retries_total", "connect_failed"), dials);
}

TEST_F(Health, AllBackendsDownIsNoRetryStorm) {
    std::vector<std::unique_ptr<FakeBackend>> gone;
    std::vector<std::string> urls;
    for (int i = 0; i < 8; ++i) {
        gone.push_back(std::make_unique<FakeBackend>());
        urls.push_back(gone.back()->url());
    }
    start(urls);
    for (const auto& backend : gone) {
        backend->refuse();
    }
    constexpr int kRequests = 200;
    for (int i = 0; i < kRequests; ++i) {
        EXPECT_EQ(status_of("/x"), 503U);
    }
    // One attempt each, a fifth of them again, and what the budget lends at the start.
    EXPECT_LE(metric("backend_connects_total"), kRequests * 1.2 + 50);
    EXPECT_GE(metric("retries_over_budget_total"), 1);
}

TEST_F(Health, AnErrorEventInAStreamThatEndsCleanlyIsAFailure) {
    const std::string events =
        "data: {\"choices\": [{\"delta\": {\"content\": \"a\"}}]}\n\n"
        "data: {\"error\": {\"message\": \"engine died\"}}\n\ndata: [DONE]\n\n";
    FakeBackend dying([&events](BackendLine& line, const BackendRequest&) {
        line.answer(events, "200 OK", "Content-Type: text/event-stream\r\n");
    });
    config.health.ejection = std::chrono::hours(1);
    start({dying.url()});
    for (int i = 0; i < 3; ++i) {
        TestClient client(port());
        ASSERT_TRUE(client.request("/v1/chat/completions", chat("m")));
        const Answer answer = client.read();
        EXPECT_EQ(answer.status(), 200U);
        EXPECT_EQ(answer.body, events) << "the client gets what the engine said";
    }
    EXPECT_TRUE(wait_for_metric("error_events_total", 3));
    EXPECT_TRUE(wait_for_metric("backend_healthy", 0)) << "three failures in a row";
}

TEST_F(Health, ABackendThatWasAwayIsAskedForItsModelsAtTheNextScrape) {
    FakeBackend backend;
    backend.answer_probes("/v1/models", std::string(kFine), R"({"data": [{"id": "m"}]})");
    backend.refuse();
    launch({backend.url()});
    ASSERT_TRUE(wait_until([&] { return metric("backend_probe_failures_total") >= 3; }))
        << "scrapes failed as well";
    backend.come_back();
    ASSERT_TRUE(backend.wait_for_probes("/v1/models", 1));
    auto probed = backend.probed();
    probed.erase(std::ranges::find(probed, "/v1/models"), probed.end());
    EXPECT_LE(std::ranges::count(probed, "/metrics"), 1);
}

TEST_F(Health, ABackendThatGivesNoMetricsAnyMoreHasNoReportedLoad) {
    FakeBackend backend;
    backend.answer_probes("/metrics", std::string(kFine), "vllm:num_requests_running 7\n");
    start({backend.url()});
    ASSERT_TRUE(wait_for_metric("backend_running", 7));
    backend.refuse();
    EXPECT_TRUE(wait_for_metric("backend_running", 0));
}

TEST_F(Health, ModelsGoToWhoServesThemAlsoAfterAChange) {
    const auto lists = [](const std::string& model) {
        return R"({"object": "list", "data": [{"id": ")" + model + R"("}]})";
    };
    FakeBackend one;
    FakeBackend two;
    one.answer_probes("/v1/models", std::string(kFine), lists("m1"));
    two.answer_probes("/v1/models", std::string(kFine), lists("m2"));
    start({one.url(), two.url()});
    const auto knows = [this](const std::string& model) {
        return wait_until(
            [&] { return admin("/backends").body.find('"' + model + '"') != std::string::npos; });
    };
    ASSERT_TRUE(knows("m1"));
    ASSERT_TRUE(knows("m2"));
    for (int i = 0; i < 6; ++i) {
        EXPECT_EQ(status_of("/v1/chat/completions", chat("m2")), 200U);
    }
    EXPECT_TRUE(one.requests().empty());
    EXPECT_EQ(two.requests().size(), 6U);
    for (int i = 0; i < 6; ++i) {
        EXPECT_EQ(status_of("/v1/chat/completions", chat("nobody's")), 200U)
            << "the engine decides";
    }
    EXPECT_EQ(one.requests().size(), 3U);
    one.answer_probes("/v1/models", std::string(kFine), lists("m3"));
    ASSERT_TRUE(knows("m3"));
    EXPECT_EQ(status_of("/v1/chat/completions", chat("m3")), 200U);
    EXPECT_EQ(one.requests().size(), 4U);
}

TEST_F(Health, TheListOfModelsComesFromABackendThatIsUp) {
    FakeBackend gone;
    FakeBackend good;
    good.answer_probes("/v1/models", std::string(kFine), R"({"data": [], "extra": 1})");
    start({gone.url(), good.url()});
    gone.refuse();
    for (int i = 0; i < 4; ++i) {
        TestClient client(port());
        ASSERT_TRUE(client.request("/v1/models"));
        const Answer answer = client.read();
        EXPECT_EQ(answer.status(), 200U);
        EXPECT_EQ(answer.body, R"({"data": [], "extra": 1})");
    }
}

TEST_F(Health, SeriesComeFromBackendsAndEnumsNeverFromClients) {
    FakeBackend backend;
    start({backend.url()});
    EXPECT_EQ(status_of("/x"), 200U);
    const auto series = [this] {
        const std::string text = admin("/metrics").body;
        return std::count(text.begin(), text.end(), '\n');
    };
    const auto before = series();
    for (int i = 0; i < 50; ++i) {
        const std::string junk = "j\\\"" + std::to_string(i);
        EXPECT_EQ(status_of("/v1/chat/completions", chat(junk)), 200U);
        TestClient client(port());
        ASSERT_TRUE(client.send("M" + std::to_string(i) + " /p" + std::to_string(i) +
                                " HTTP/1.1\r\nHost: h" + std::to_string(i) + "\r\n\r\n"));
        EXPECT_EQ(client.read().status(), 200U);
    }
    EXPECT_EQ(series(), before);
    EXPECT_EQ(admin("/metrics").body.find("j\\"), std::string::npos);
}

}  // namespace
}  // namespace prefix_router::testing
