// Where requests go, seen from outside: load, warmth, ties, and what is counted.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "integration/support/router_test.hpp"

namespace prefix_router::testing {
namespace {

std::string words(std::string_view seed, std::size_t size) {
    std::string text;
    for (int i = 0; text.size() < size; ++i) {
        text.append(seed).append(" ").append(std::to_string(i)).append(" ");
    }
    text.resize(size);
    return text;
}

std::string chat(std::string_view prompt, std::string_view model = "m") {
    return R"({"model": ")" + std::string(model) +
           R"(", "messages": [{"role": "user", "content": ")" + std::string(prompt) + R"("}]})";
}

// Three backends under the default strategy, equally fast however busy this machine is. A prompt
// with "hold" in it is answered when the gate opens.
class Routing : public RouterTest {
  protected:
    Routing() {
        routing_time = 1e-3;
        for (std::size_t i = 0; i < 3; ++i) {
            backends.push_back(std::make_unique<FakeBackend>(
                [this, i](BackendLine& line, const BackendRequest& request) {
                    if (i == silent || request.body.find("hold") != std::string::npos) {
                        finish.wait();
                    }
                    line.answer(R"({"choices": []})", "200 OK",
                                "Content-Type: application/json\r\n");
                }));
        }
    }

    void start_all() {
        std::vector<std::string> urls;
        for (const auto& backend : backends) {
            urls.push_back(backend->url());
        }
        start(urls);
    }

    // The backend that answered.
    std::size_t ask(std::string_view prompt, std::string_view path = "/v1/chat/completions") {
        const std::vector<std::size_t> before = counts();
        TestClient client(port());
        EXPECT_TRUE(client.request(path, chat(prompt)));
        EXPECT_EQ(client.read().status(), 200U);
        const std::vector<std::size_t> after = counts();
        return static_cast<std::size_t>(
            std::mismatch(before.begin(), before.end(), after.begin()).first - before.begin());
    }

    // Sends without waiting for the answer; returns when a backend has the request.
    void begin(std::string_view prompt, std::string_view path = "/v1/chat/completions",
               std::string_view model = "m") {
        const std::size_t before = total();
        clients.push_back(std::make_unique<TestClient>(port()));
        ASSERT_TRUE(clients.back()->request(path, chat(prompt, model)));
        ASSERT_TRUE(wait_until([&] { return total() > before; }));
    }
    void finish_all() {
        finish.open();
        for (const auto& client : clients) {
            EXPECT_EQ(client->read().status(), 200U);
        }
    }

    std::vector<std::size_t> counts() const {
        std::vector<std::size_t> made;
        for (const auto& backend : backends) {
            made.push_back(backend->requests().size());
        }
        return made;
    }
    std::size_t total() const {
        std::size_t sum = 0;
        for (const std::size_t count : counts()) {
            sum += count;
        }
        return sum;
    }
    std::size_t most() const {
        const auto all = counts();
        return *std::max_element(all.begin(), all.end());
    }
    std::size_t least() const {
        const auto all = counts();
        return *std::min_element(all.begin(), all.end());
    }

    Gate finish;
    std::size_t silent = 3;  // this one never answers
    std::vector<std::unique_ptr<FakeBackend>> backends;
    std::vector<std::unique_ptr<TestClient>> clients;
};

TEST_F(Routing, ColdPromptsOneAfterTheOtherUseAllBackends) {
    start_all();
    for (int i = 0; i < 60; ++i) {
        ask(words("cold " + std::to_string(i), 1000));
    }
    EXPECT_LE(most(), 30U);
    EXPECT_GE(least(), 1U);
}

TEST_F(Routing, GreetingsAreNoPrefixWorthKeeping) {
    start_all();
    for (int i = 0; i < 60; ++i) {
        ask("hello");
    }
    EXPECT_LE(most(), 36U);
    ask("");
}

TEST_F(Routing, WhatIsUnderWayCountsFromTheMomentItIsSent) {
    start_all();
    for (int i = 0; i < 30; ++i) {
        begin(words("hold " + std::to_string(i), 4000));
    }
    EXPECT_LE(most(), 13U);
    EXPECT_GE(least(), 7U);
    finish_all();
}

TEST_F(Routing, PathsThatItDoesNotKnowCarryTheirLoadToo) {
    start_all();
    for (int i = 0; i < 30; ++i) {
        begin(words("hold", 2000), "/inference/v1/generate");
    }
    EXPECT_EQ(metric("backend_in_flight"), 30);
    EXPECT_LE(most(), 13U);
    finish_all();
}

TEST_F(Routing, ColdPromptsAvoidALoadedBackendHoweverLittleItHasCached) {
    for (std::size_t i = 0; i < 3; ++i) {
        auto backend = config::backend_from_url(backends[i]->url());
        backend->models =
            i == 0 ? std::vector<std::string>{"m", "own"} : std::vector<std::string>{"m"};
        config.backends.push_back(*backend);
    }
    start({});
    for (int i = 0; i < 20; ++i) {
        ask(words("cached elsewhere " + std::to_string(i), 4000));
    }
    const std::size_t before = counts()[0];
    for (int i = 0; i < 10; ++i) {
        begin(words("hold " + std::to_string(i), 4000), "/v1/chat/completions", "own");
    }
    ASSERT_EQ(counts()[0], before + 10);
    for (int i = 0; i < 10; ++i) {
        ask(words("other " + std::to_string(i), 4000));
    }
    EXPECT_LE(counts()[0], before + 11);
    finish_all();
}

TEST_F(Routing, APromptIsRememberedWhetherOrNotItMatchedBefore) {
    start_all();
    const std::string prompt = words("returning", 3000);
    ask(prompt);
    const std::size_t home = ask(prompt);
    EXPECT_EQ(ask(prompt + words("tail a", 2000)), home);
    EXPECT_EQ(ask(prompt + words("tail b", 2000)), home);
}

TEST_F(Routing, ConversationsStayWhenOneBackendGoesAndComesBack) {
    probe_often();
    config.health.ejection = std::chrono::milliseconds(1);  // of the routing's time
    start_all();
    constexpr std::size_t kConversations = 30;
    const auto talk = [&](std::size_t i) { return ask(words("talk " + std::to_string(i), 3000)); };
    std::vector<std::size_t> homes;
    for (std::size_t i = 0; i < kConversations; ++i) {
        homes.push_back(talk(i));
    }
    ASSERT_GE(counts()[0], 1U);
    ASSERT_LT(counts()[0], kConversations);
    const auto talk_again = [&] {
        for (std::size_t i = 0; i < kConversations; ++i) {
            const std::size_t at = talk(i);
            EXPECT_TRUE(homes[i] == 0 || at == homes[i]) << i << " moved to " << at;
        }
    };
    backends[0]->refuse();
    const std::size_t before = counts()[0];
    talk_again();
    EXPECT_EQ(counts()[0], before);
    backends[0]->come_back();
    ASSERT_TRUE(wait_for_metric("backend_healthy", 3));
    talk_again();
    for (int i = 0; i < 30; ++i) {
        ask(words("later " + std::to_string(i), 3000));
    }
    EXPECT_GT(counts()[0], before) << "it gets its share again";
}

TEST_F(Routing, ReportedLoadDoesNotHerdRequests) {
    config.health.scrape_interval = std::chrono::milliseconds(1);  // of the routing's time
    const auto metrics = [](int running) {
        return "vllm:num_requests_running{model_name=\"m\"} " + std::to_string(running) + "\n";
    };
    backends[0]->answer_probes("/metrics", "200 OK", metrics(0));
    backends[1]->answer_probes("/metrics", "200 OK", metrics(1));
    backends[2]->answer_probes("/metrics", "500 Internal Server Error", "<html>");
    start_all();
    ASSERT_TRUE(backends[1]->wait_for_probes("/metrics", 2));
    for (int i = 0; i < 24; ++i) {
        begin(words("hold " + std::to_string(i), 4000));
    }
    EXPECT_LE(most(), 11U);
    EXPECT_GE(least(), 5U) << "a backend without metrics is neither idle nor full";
    finish_all();
}

TEST_F(Routing, CountsChangeWithRequestsAndNotWithProbes) {
    probe_often();
    start_all();
    for (int i = 0; i < 9; ++i) {
        begin(words("hold " + std::to_string(i), 4000));
    }
    for (const auto& backend : backends) {
        ASSERT_TRUE(backend->wait_for_probes("/health", 5));
    }
    EXPECT_EQ(metric("backend_in_flight"), 9);
    finish_all();
    EXPECT_TRUE(wait_for_metric("backend_in_flight", 0));
}

TEST_F(Routing, OneSilentBackendHoldsUpNobodyElseAndIsLeft) {
    routing_time = 1;
    config.timeouts.first_byte = std::chrono::milliseconds(5000);
    config.health.passive_failures = 2;
    config.health.ejection = std::chrono::hours(1);
    silent = 0;
    start_all();
    for (int i = 0; i < 60; ++i) {
        clients.push_back(std::make_unique<TestClient>(port()));
        ASSERT_TRUE(clients.back()->request("/v1/chat/completions",
                                            chat(words("p " + std::to_string(i), 4000))));
    }
    std::size_t timed_out = 0;
    for (const auto& client : clients) {
        const unsigned status = client->read().status();
        EXPECT_TRUE(status == 200 || status == 504) << status;
        timed_out += status == 504 ? 1U : 0U;
    }
    EXPECT_EQ(timed_out, counts()[silent]);
    EXPECT_GE(timed_out, 2U);
    EXPECT_TRUE(wait_for_metric("backend_healthy", 2));
    for (int i = 0; i < 10; ++i) {
        EXPECT_NE(ask(words("later " + std::to_string(i), 4000)), silent);
    }
    finish.open();
}

TEST_F(Routing, CallsThatChangeOneServerAreRefused) {
    start_all();
    TestClient client(port());
    for (const std::string_view path : {"/reset_prefix_cache", "/flush_cache", "/sleep?level=1"}) {
        ASSERT_TRUE(client.request(path, "{}"));
        const Answer answer = client.read();
        EXPECT_EQ(answer.status(), 403U) << path;
        EXPECT_NE(answer.body.find("server_control"), std::string::npos) << answer.body;
    }
    EXPECT_EQ(total(), 0U);
}

}  // namespace
}  // namespace prefix_router::testing
