#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "engine_sim/server.hpp"
#include "integration/support/test_client.hpp"

namespace prefix_router::engine_sim {
namespace {

using nlohmann::json;
using testing::Answer;
using testing::ReadEnd;
using testing::TestClient;

/// One or more engines in this process, on free ports, with a thread of their own.
class EngineSimTest : public ::testing::Test {
  protected:
    EngineSimTest() {
        options.engine.block_tokens = kBlockTokens;
        options.engine.overhead = 0;
        options.time_scale = 50;
    }

    ~EngineSimTest() override {
        net::post(io_, [this] {
            for (const auto& server : servers_) server->stop();
        });
        if (thread_.joinable()) thread_.join();
    }

    /// Listens; every call adds an engine. All must be added before go().
    std::uint16_t add_engine() {
        servers_.push_back(std::make_unique<Server>(io_, options));
        return *servers_.back()->listen(0);
    }

    void go() {
        thread_ = std::thread([this] { io_.run(); });
    }

    std::uint16_t start() {
        const std::uint16_t port = add_engine();
        go();
        return port;
    }

    static std::string chat(const std::string& text, Tokens answer, const json& more = {}) {
        json body = {{"messages", json::array({{{"role", "user"}, {"content", text}}})},
                     {"max_tokens", answer}};
        if (more.is_object()) body.update(more);
        return body.dump();
    }

    static Answer ask(std::uint16_t port, const std::string& body,
                      const std::string& path = "/v1/chat/completions") {
        TestClient client(port);
        client.request(path, body);
        return client.read();
    }

    static Tokens cached_tokens(const Answer& answer) {
        return json::parse(answer.body)["usage"]["prompt_tokens_details"]["cached_tokens"];
    }

    /// Value of the metric whose line begins with `name`.
    static double metric(std::uint16_t port, const std::string& name) {
        TestClient client(port);
        client.request("/metrics");
        const std::string page = client.read().body;
        const std::size_t at = page.find("\n" + name + "{");
        if (at == std::string::npos) return -1;
        return std::stod(page.substr(page.find("} ", at) + 2));
    }

    /// True once the metric has the value.
    static bool wait_for_metric(std::uint16_t port, const std::string& name, double value) {
        const SteadyClock clock;
        const TimePoint give_up = clock.now() + testing::kPatience;
        while (clock.now() < give_up)
            if (metric(port, name) == value) return true;
        return false;
    }

    /// A prompt that takes 10 s of real time: nobody waits for its end.
    std::uint16_t start_slow() {
        options.engine.prefill_rate = 800;
        return start();
    }
    static std::string endless_chat(const json& more = {}) {
        return chat(std::string(1'600'000, 'y'), 2, more);
    }

    static constexpr const char* kAborts =
        "vllm:request_success_total{engine=\"0\",model_name=\"sim\",finished_reason=\"abort\"";
    static double aborts(std::uint16_t port) {
        TestClient client(port);
        client.request("/metrics");
        const std::string page = client.read().body;
        const std::size_t at = page.find(kAborts);
        return at == std::string::npos ? -1 : std::stod(page.substr(page.find("} ", at) + 2));
    }

    Options options;

  private:
    net::io_context io_{1};
    std::vector<std::unique_ptr<Server>> servers_;
    std::thread thread_;
};

const json kStream = {{"stream", true}};
const std::string kLongText(16'000, 'x');  // 4,000 tokens

TEST_F(EngineSimTest, ReportsARepeatedPromptAsCachedInWholeBlocksAndNeverWhole) {
    const std::uint16_t port = start();
    EXPECT_EQ(cached_tokens(ask(port, chat(kLongText, 1))), 0);
    const Answer again = ask(port, chat(kLongText, 1));
    const Tokens prompt = json::parse(again.body)["usage"]["prompt_tokens"];
    EXPECT_EQ(cached_tokens(again), (prompt - 1) / kBlockTokens * kBlockTokens);
    EXPECT_EQ(metric(port, "vllm:prefix_cache_hits_total"),
              static_cast<double>(cached_tokens(again)));
    EXPECT_EQ(metric(port, "vllm:prefix_cache_queries_total"), static_cast<double>(2 * prompt));
}

TEST_F(EngineSimTest, KeepsTheAnswerCachedForTheNextTurn) {
    const std::uint16_t port = start();
    const Answer first = ask(port, chat(kLongText, 100));
    const json body = json::parse(first.body);
    const json turns = {
        {{"role", "user"}, {"content", kLongText}},
        {{"role", "assistant"}, {"content", body["choices"][0]["message"]["content"]}},
        {{"role", "user"}, {"content", "and then?"}}};
    const Answer second = ask(port, json{{"messages", turns}, {"max_tokens", 1}}.dump());
    const Tokens known = body["usage"]["total_tokens"];
    EXPECT_GT(cached_tokens(second), known - 2 * kBlockTokens);
}

TEST_F(EngineSimTest, SeparatesModelsAndCacheSalts) {
    options.models = {"a", "b"};
    const std::uint16_t port = start();
    ask(port, chat(kLongText, 1, {{"model", "a"}}));
    EXPECT_EQ(cached_tokens(ask(port, chat(kLongText, 1, {{"model", "b"}}))), 0);
    EXPECT_EQ(cached_tokens(ask(port, chat(kLongText, 1, {{"model", "a"}, {"cache_salt", "s"}}))),
              0);
    EXPECT_GT(cached_tokens(ask(port, chat(kLongText, 1, {{"model", "a"}}))), 0);
}

TEST_F(EngineSimTest, EnginesOfOneProcessAnswerAlikeAndCacheApart) {
    const std::uint16_t one = add_engine();
    const std::uint16_t two = add_engine();
    go();
    const json from_one = json::parse(ask(one, chat(kLongText, 20)).body);
    const Answer from_two = ask(two, chat(kLongText, 20));
    EXPECT_EQ(from_one["choices"], json::parse(from_two.body)["choices"]);
    EXPECT_EQ(cached_tokens(from_two), 0);
    EXPECT_NE(from_one["id"], json::parse(from_two.body)["id"]);
}

TEST_F(EngineSimTest, StreamsTheSameTextAsItAnswersWhole) {
    const std::uint16_t port = start();
    const json whole = json::parse(ask(port, chat("Hi", 20)).body);
    const Answer stream = ask(port, chat("Hi", 20, kStream));
    EXPECT_EQ(stream.framing, testing::BodyFraming::Chunked);
    EXPECT_TRUE(stream.is_complete);
    std::string text;
    for (std::size_t at = 0; (at = stream.body.find("data: {", at)) != std::string::npos;) {
        const std::size_t end = stream.body.find("\n\n", at);
        const json event = json::parse(stream.body.substr(at + 6, end - at - 6));
        text += event["choices"][0]["delta"].value("content", "");
        at = end;
    }
    EXPECT_EQ(text, whole["choices"][0]["message"]["content"].get<std::string>());
    EXPECT_TRUE(stream.body.ends_with("data: [DONE]\n\n"));
    EXPECT_EQ(stream.body.find("usage"), std::string::npos);
}

TEST_F(EngineSimTest, AnswersSeveralRequestsOnOneConnectionAlsoPipelinedOnes) {
    TestClient client(start());
    client.request("/v1/chat/completions", chat("one", 2));
    EXPECT_EQ(client.read().status(), 200U);
    client.request("/v1/chat/completions", chat("two", 2, kStream));
    client.request("/v1/models");
    EXPECT_TRUE(client.read().body.ends_with("[DONE]\n\n"));
    EXPECT_EQ(json::parse(client.read().body)["data"][0]["id"], "sim");
}

TEST_F(EngineSimTest, AbortsAStreamWhoseClientLeavesAndKeepsWhatWasComputed) {
    options.engine.lanes = 2;  // the short one runs beside the long one, as fast
    const std::uint16_t port = start_slow();
    TestClient leaving(port);
    leaving.request("/v1/chat/completions", endless_chat(kStream));
    ASSERT_TRUE(wait_for_metric(port, "vllm:num_requests_running", 1));
    EXPECT_EQ(ask(port, chat(kLongText, 1)).status(), 200U);  // a tenth of a second each
    leaving.socket().close();
    EXPECT_TRUE(wait_for_metric(port, "vllm:num_requests_running", 0));
    EXPECT_EQ(aborts(port), 1);
    // The beginning of the aborted prompt: at least as much as of the short one is there.
    EXPECT_GE(cached_tokens(ask(port, chat(std::string(kLongText.size(), 'y'), 1))), 3'900);
}

TEST_F(EngineSimTest, TakesAHalfClosedConnectionForAClientThatLeft) {
    const std::uint16_t port = start_slow();
    TestClient leaving(port);
    leaving.request("/v1/chat/completions", endless_chat());
    ASSERT_TRUE(wait_for_metric(port, "vllm:num_requests_running", 1));
    leaving.socket().end_sending();
    EXPECT_TRUE(wait_for_metric(port, "vllm:num_requests_running", 0));
    EXPECT_EQ(aborts(port), 1);
}

TEST_F(EngineSimTest, FinishesNonStreamingRequestsOfDepartedClientsWhenTold) {
    options.habits.abort_non_streaming = false;
    const std::uint16_t port = start_slow();
    TestClient leaving(port);
    leaving.request("/v1/chat/completions", chat(std::string(160'000, 'x'), 2));  // a second
    ASSERT_TRUE(wait_for_metric(port, "vllm:num_requests_running", 1));
    leaving.socket().close();
    EXPECT_TRUE(wait_for_metric(port, "vllm:num_requests_running", 0));
    EXPECT_EQ(aborts(port), 0);
    EXPECT_GT(cached_tokens(ask(port, chat(kLongText, 1))), 3'900);
}

TEST_F(EngineSimTest, ClosesAfterAStreamWhileAnnouncingKeepAlive) {
    options.habits.close_after_stream = true;
    TestClient client(start());
    client.request("/v1/chat/completions", chat("Hi", 2));
    EXPECT_EQ(client.read().status(), 200U);  // stays open after a whole answer
    client.request("/v1/chat/completions", chat("Hi", 2, kStream));
    const Answer answer = client.read();
    EXPECT_EQ(answer.field("Connection"), "keep-alive");
    EXPECT_TRUE(answer.is_complete);
    EXPECT_EQ(client.wait_for_end(), ReadEnd::Ended);
}

TEST_F(EngineSimTest, BreaksAStreamByAnErrorEventInACompleteAnswer) {
    options.habits.error_event_rate = 1;
    const std::uint16_t port = start();
    const Answer answer = ask(port, chat("Hi", 20, kStream));
    EXPECT_EQ(answer.status(), 200U);
    EXPECT_TRUE(answer.is_complete);
    EXPECT_NE(answer.body.find("data: {\"error\":"), std::string::npos);
    EXPECT_TRUE(answer.body.ends_with("data: [DONE]\n\n"));
    EXPECT_EQ(answer.body.find("\"finish_reason\":\"stop\""), std::string::npos);
    EXPECT_EQ(metric(port, "engine_sim_faults_total"), 1);
}

TEST_F(EngineSimTest, DropsTheConnectionInTheMiddleOfAStream) {
    options.habits.die_mid_stream_rate = 1;
    const Answer answer = ask(start(), chat("Hi", 20, kStream));
    EXPECT_EQ(answer.status(), 200U);
    EXPECT_FALSE(answer.is_complete);
    EXPECT_EQ(answer.body.find("[DONE]"), std::string::npos);
}

TEST_F(EngineSimTest, RefusesWith503AndWithoutRetryAfterWhenTheQueueIsFull) {
    options.engine.max_waiting = 0;
    const std::uint16_t port = start_slow();
    TestClient first(port);
    first.request("/v1/chat/completions", endless_chat());
    ASSERT_TRUE(wait_for_metric(port, "vllm:num_requests_running", 1));
    const Answer refused = ask(port, chat("Hi", 2, kStream));
    EXPECT_EQ(refused.status(), 503U);
    EXPECT_TRUE(refused.fields("Retry-After").empty());
    EXPECT_NE(refused.body.find("try a different instance"), std::string::npos);
}

TEST_F(EngineSimTest, ClosesAnIdleConnection) {
    options.habits.idle_close_seconds = 1;
    TestClient client(start());
    client.request("/health");
    EXPECT_EQ(client.read().status(), 200U);
    EXPECT_EQ(client.wait_for_end(), ReadEnd::Ended);
}

TEST_F(EngineSimTest, RefusesUnknownModelsPathsAndTooLongPrompts) {
    options.engine.kv_tokens = 1'000;
    const std::uint16_t port = start();
    EXPECT_EQ(ask(port, chat("Hi", 1, {{"model", "nobody's"}})).status(), 404U);
    EXPECT_EQ(ask(port, chat("Hi", 1), "/v1/embeddings").status(), 404U);
    EXPECT_EQ(ask(port, "{").status(), 400U);
    const Answer too_long = ask(port, chat(kLongText, 1, kStream));
    EXPECT_EQ(too_long.status(), 400U);
    EXPECT_EQ(too_long.field("Content-Type"), "application/json");
}

TEST_F(EngineSimTest, AsksForTheBodyOfAnExpectingClient) {
    TestClient client(start());
    const std::string body = chat("Hi", 1);
    client.send(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
        "Content-Length: " +
        std::to_string(body.size()) + "\r\n\r\n");
    ASSERT_TRUE(client.read_until("HTTP/1.1 100 Continue\r\n\r\n"));
    client.send(body);
    EXPECT_EQ(client.read().status(), 200U);
}

TEST_F(EngineSimTest, CountsGeneratingRequestsUnderLoad) {
    const std::uint16_t port = start_slow();
    TestClient busy(port);
    busy.request("/v1/chat/completions", endless_chat());
    ASSERT_TRUE(wait_for_metric(port, "vllm:num_requests_running", 1));
    TestClient client(port);
    client.request("/load");
    EXPECT_EQ(json::parse(client.read().body)["server_load"], 1);
}

}  // namespace
}  // namespace prefix_router::engine_sim
