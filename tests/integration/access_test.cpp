// API keys: who is served, with what, as fast as allowed, and what is never shown.
#include <cstdlib>
#include <string>
#include <string_view>

#include <gmock/gmock.h>

#include "prefix_router/base/sha256.hpp"

#include "integration/support/router_test.hpp"

namespace prefix_router::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kKey = "sk-alpha-0123456789";
constexpr std::string_view kOther = "sk-beta-0123456789";

class Access : public RouterTest {
  protected:
    config::ApiKey& add_key(const std::string& name, std::string_view key) {
        config::ApiKey made;
        made.name = name;
        made.sha256 = to_hex(sha256(key));
        return config.api_keys.emplace_back(std::move(made));
    }
    static std::string bearer(std::string_view key) {
        return "Authorization: Bearer " + std::string(key) + "\r\n";
    }
    Answer ask(std::string_view target, std::string_view fields, std::string_view body = {}) {
        TestClient client(port());
        client.request(target, body, fields);
        return client.read();
    }
    static std::string chat(std::string_view model) {
        return R"({"model": ")" + std::string(model) +
               R"(", "messages": [{"role": "user", "content": "hello"}]})";
    }

    FakeBackend backend;
};

TEST_F(Access, WithoutKeysEverybodyIsServedAndAuthorizationGoesOn) {
    start({backend.url()});
    EXPECT_EQ(ask("/v1/models/x", bearer("whatever")).status(), 200U);
    EXPECT_EQ(backend.requests().at(0).field("Authorization"), "Bearer whatever");
}

TEST_F(Access, IsForThoseWhoShowAKeyInEitherField) {
    add_key("alpha", kKey);
    start({backend.url()});
    EXPECT_EQ(ask("/x", bearer(kKey)).status(), 200U);
    EXPECT_EQ(ask("/x", "authorization: bearer   " + std::string(kKey) + "\r\n").status(), 200U);
    EXPECT_EQ(ask("/x", "X-Api-Key: " + std::string(kKey) + "\r\n").status(), 200U);
    for (const BackendRequest& request : backend.requests()) {
        EXPECT_THAT(request.head, Not(HasSubstr(kKey)));
        EXPECT_EQ(request.field("Authorization"), "");
        EXPECT_EQ(request.field("X-Api-Key"), "");
        EXPECT_EQ(request.field("Via"), "1.1 prefix-router");
    }
    EXPECT_TRUE(wait_for_metric("api_key_requests_total", 3, "alpha"));
}

TEST_F(Access, IsRefusedToStrangersInTheWordsOfTheirApi) {
    add_key("alpha", kKey);
    start({backend.url()});
    const std::string twice = bearer(kKey) + bearer(kKey);
    for (const std::string& fields :
         {std::string(), bearer(kOther), bearer(""), std::string("Authorization: Basic abc\r\n"),
          bearer(to_hex(sha256(kKey))), twice, bearer(std::string(kKey) + "x"),
          "Connection: authorization\r\n" + bearer(kKey)}) {
        const Answer answer = ask("/v1/chat/completions", fields, chat("m"));
        EXPECT_EQ(answer.status(), 401U) << fields;
        EXPECT_EQ(answer.field("WWW-Authenticate"), "Bearer");
        EXPECT_THAT(answer.body, HasSubstr("\"code\": \"invalid_api_key\""));
        EXPECT_THAT(answer.body, HasSubstr("\"type\": \"invalid_request_error\""));
    }
    const Answer anthropic = ask("/v1/messages", {}, chat("m"));
    EXPECT_EQ(anthropic.status(), 401U);
    EXPECT_THAT(anthropic.body, HasSubstr(R"({"type": "error", "error": {"message": )"));
    EXPECT_THAT(anthropic.body, HasSubstr(R"("type": "authentication_error")"));
    EXPECT_THAT(ask("/api/chat", {}, chat("m")).body, HasSubstr(R"({"error": "The API key)"));
    EXPECT_TRUE(backend.requests().empty());
    EXPECT_TRUE(wait_for_metric("errors_total", 10, "\"invalid_api_key\""));
}

TEST_F(Access, APreflightNeedsNoKeyAndGetsNone) {
    ::setenv("PREFIX_ROUTER_TEST_AUTHORIZATION", "Bearer backend-secret", 1);
    add_key("alpha", kKey);
    auto own = config::backend_from_url(backend.url());
    own->authorization.kind = config::BackendAuthorization::Kind::Environment;
    own->authorization.source = "PREFIX_ROUTER_TEST_AUTHORIZATION";
    config.backends.push_back(*own);
    start({});
    const auto status = [&](const std::string& head) {
        TestClient client(port());
        client.send("OPTIONS /v1/chat/completions HTTP/1.1\r\nHost: r\r\n" + head + "\r\n");
        return client.read().status();
    };
    const std::string origin = "Origin: https://app\r\n";
    const std::string method = "Access-Control-Request-Method: POST\r\n";
    EXPECT_EQ(status(origin + method), 200U);
    EXPECT_EQ(status(origin + method + bearer(kOther)), 200U);
    for (const BackendRequest& request : backend.requests()) {
        EXPECT_EQ(request.field("Origin"), "https://app");
        EXPECT_EQ(request.field("Authorization"), "");
    }
    EXPECT_EQ(status(origin), 401U);
    EXPECT_EQ(status(method), 401U);
    EXPECT_EQ(status(origin + method + "Content-Length: 3\r\n"), 401U);
    EXPECT_EQ(ask("/v1/chat/completions", origin + method, chat("m")).status(), 401U);
    EXPECT_EQ(backend.requests().size(), 2U);
}

TEST_F(Access, APreflightPushesNobodyOutOfTheQueue) {
    add_key("alpha", kKey);
    config.routing.strategy = config::Strategy::RoundRobin;
    config.limits.max_in_flight_per_backend = 1;
    config.queue.max_requests = 1;
    config.queue.priority_header = "X-Priority";
    Gate finish;
    FakeBackend busy([&](BackendLine& line, const BackendRequest&) {
        finish.wait();
        line.answer("ok");
    });
    start({busy.url()});
    TestClient running(port());
    running.request("/running", {}, bearer(kKey));
    ASSERT_TRUE(busy.wait_for_requests(1));
    TestClient preflight(port());
    preflight.send(
        "OPTIONS /x HTTP/1.1\r\nHost: r\r\nOrigin: https://app\r\n"
        "Access-Control-Request-Method: POST\r\nX-Priority: high\r\n\r\n");
    ASSERT_TRUE(wait_for_metric("requests_held", 1));
    TestClient held(port());
    held.request("/held", {}, bearer(kKey));
    EXPECT_THAT(preflight.read().body, HasSubstr("queue_displaced"));
    finish.open();
    EXPECT_EQ(running.read().status(), 200U);
    EXPECT_EQ(held.read().status(), 200U);
}

TEST_F(Access, AStrangersBodyIsNotWaitedFor) {
    add_key("alpha", kKey);
    start({backend.url()});
    TestClient client(port());
    client.send(
        "POST /v1/completions HTTP/1.1\r\nHost: r\r\nContent-Length: 60000000\r\n"
        "Expect: 100-continue\r\n\r\n");
    const Answer answer = client.read();
    EXPECT_EQ(answer.status(), 401U);
    EXPECT_TRUE(answer.interims.empty());
}

TEST_F(Access, IsToTheKeysOwnModels) {
    add_key("alpha", kKey).models = {"small", "embed"};
    add_key("beta", kOther);
    start({backend.url()});
    const auto status = [&](std::string_view target, std::string_view body) {
        return ask(target, bearer(kKey), body).status();
    };
    EXPECT_EQ(status("/v1/chat/completions", chat("small")), 200U);
    const auto status_of_json = [&](std::string_view target, std::string_view body) {
        return ask(target, bearer(kKey) + "Content-Type: Application/JSON; charset=utf-8\r\n", body)
            .status();
    };
    EXPECT_EQ(status_of_json("/v1/embeddings", R"({"input": "x", "model": "embed"})"), 200U);
    EXPECT_EQ(status("/v1/models", {}), 404U);  // the backend's own answer
    EXPECT_EQ(status("/v1/chat/completions", chat("large")), 403U);
    EXPECT_EQ(status("/v1/chat/completions", chat("small\\u0020")), 403U);
    EXPECT_EQ(status_of_json("/v1/embeddings", R"({"model": "embed", "model": "large"})"), 403U);
    EXPECT_EQ(status("/v1/completions", R"({"prompt": "no model"})"), 403U);
    EXPECT_EQ(status("/v1/audio/transcriptions", "--x\r\nname=model\r\n\r\nsmall"), 403U);
    const Answer refused = ask("/v1/chat/completions", bearer(kKey), chat("large"));
    EXPECT_THAT(refused.body, HasSubstr("model_forbidden"));
    EXPECT_EQ(ask("/v1/chat/completions", bearer(kOther), chat("large")).status(), 200U);
    EXPECT_EQ(ask("/ws?model=large", bearer(kKey) + "Connection: Upgrade\r\nUpgrade: websocket\r\n")
                  .status(),
              403U);
}

// Ollama takes a key in any case for "model", a form is read by its boundary or its ampersands, and
// engines differ in which of two equal keys counts.
TEST_F(Access, IsNotToAModelThatTheEngineReadsInAnotherWay) {
    add_key("alpha", kKey).models = {"small"};
    start({backend.url()});
    const auto status = [&](std::string_view target, std::string_view type, std::string_view body) {
        return ask(target, bearer(kKey) + "Content-Type: " + std::string(type) + "\r\n", body)
            .status();
    };
    constexpr std::string_view kJson = "application/json";
    for (const std::string_view target : {"/api/chat", "/v1/chat/completions", "/api/embed"}) {
        EXPECT_EQ(status(target, kJson, R"({"model": "small"})"), 200U) << target;
        EXPECT_EQ(status(target, kJson, R"({"model": "small", "Model": "large"})"), 403U) << target;
        EXPECT_EQ(status(target, kJson, R"({"MODEL": "large", "model": "small"})"), 403U) << target;
        EXPECT_EQ(status(target, kJson, R"({"model": "small", "M\u004fdel": "x"})"), 403U)
            << target;
        EXPECT_EQ(status(target, kJson, R"({"model": "large", "model": "small"})"), 403U) << target;
    }
    constexpr std::string_view kForms = "/v1/audio/transcriptions";
    EXPECT_EQ(status(kForms, "application/x-www-form-urlencoded",
                     R"({"model": "small", "x": "&model=large&"})"),
              403U);
    EXPECT_EQ(status(kForms, "multipart/form-data; boundary=b; json",
                     "{\"model\": \"small\", \"x\": \"\r\n--b\r\nContent-Disposition: form-data; "
                     "name=model\r\n\r\nlarge\r\n--b--\r\n\"}"),
              403U);
    EXPECT_EQ(status(kForms, "application/json\r\nContent-Type: multipart/form-data; boundary=b",
                     R"({"model": "small"})"),
              403U);
}

TEST_F(Access, HasARatePerKey) {
    config::ApiKey& slow = add_key("alpha", kKey);
    slow.requests_per_second = 0.01;
    slow.burst = 2;
    add_key("beta", kOther);
    start({backend.url()});
    TestClient client(port());
    for (int i = 0; i < 2; ++i) {
        client.request("/x", {}, bearer(kKey));
        EXPECT_EQ(client.read().status(), 200U);
    }
    client.request("/x", {}, bearer(kKey));
    const Answer limited = client.read();
    EXPECT_EQ(limited.status(), 429U);
    const long wait = std::atol(limited.field("Retry-After").c_str());
    EXPECT_GT(wait, 60) << "the true one";
    EXPECT_LE(wait, 100);
    EXPECT_THAT(limited.body, HasSubstr("rate_limited"));
    client.request("/x", {}, bearer(kOther));
    EXPECT_EQ(client.read().status(), 200U) << "the connection goes on, and others are not limited";
    EXPECT_TRUE(wait_for_metric("api_key_rate_limited_total", 1, "alpha"));
}

TEST_F(Access, ABackendGetsItsOwnCredentials) {
    ::setenv("PREFIX_ROUTER_TEST_AUTHORIZATION", "Bearer backend-secret", 1);
    auto own = config::backend_from_url(backend.url());
    own->authorization.kind = config::BackendAuthorization::Kind::Environment;
    own->authorization.source = "PREFIX_ROUTER_TEST_AUTHORIZATION";
    config.backends.push_back(*own);
    start({});
    EXPECT_EQ(ask("/x", bearer(kKey) + "X-Api-Key: mine\r\nX-Other: stays\r\n", "body").status(),
              200U);
    const BackendRequest request = backend.requests().at(0);
    EXPECT_EQ(request.field("Authorization"), "Bearer backend-secret");
    EXPECT_EQ(request.field("X-Api-Key"), "");
    EXPECT_EQ(request.field("X-Other"), "stays");
    EXPECT_EQ(request.body, "body");
    EXPECT_THAT(admin("/config").body, Not(HasSubstr("backend-secret")));
    EXPECT_THAT(admin("/backends").body, Not(HasSubstr("backend-secret")));
}

TEST_F(Access, ASecretThatIsNotThereFailsTheStart) {
    auto own = config::backend_from_url(backend.url());
    own->authorization.kind = config::BackendAuthorization::Kind::File;
    own->authorization.source = "/nowhere";
    config.backends.push_back(*own);
    const auto started = app::Application::start(config);
    ASSERT_FALSE(started.has_value());
    EXPECT_THAT(started.error().message(), HasSubstr("the file /nowhere cannot be opened"));
}

TEST_F(Access, NoPrefixIsBelievedAcrossKeys) {
    config.routing.isolate_tenants = true;
    config.routing.expose_decision = true;
    add_key("alpha", kKey);
    add_key("beta", kOther);
    start({backend.url()});
    const std::string body = R"({"model": "m", "prompt": ")" + std::string(20'000, 'x') + R"("})";
    const auto expected = [&](std::string_view key) {
        const Answer answer = ask("/v1/completions", bearer(key), body);
        return answer.field("X-Prefix-Router-Decision");
    };
    EXPECT_THAT(expected(kKey), HasSubstr("expected_cached_tokens=0"));
    EXPECT_THAT(expected(kKey), Not(HasSubstr("expected_cached_tokens=0")));
    EXPECT_THAT(expected(kOther), HasSubstr("expected_cached_tokens=0"));
}

TEST_F(Access, TheAdminTokenIsAskedForButNotByProbes) {
    config.admin_token_sha256 = to_hex(sha256("admin-secret"));
    launch({backend.url()});
    admin_fields = bearer("admin-secret");
    const auto status = [&](std::string_view path, std::string_view fields) {
        TestClient client(*router().admin_port());
        client.request(path, {}, fields);
        return client.read();
    };
    for (const std::string_view path :
         {"/metrics", "/backends", "/decisions", "/config", "/nothing"}) {
        EXPECT_EQ(status(path, {}).status(), 401U) << path;
        EXPECT_EQ(status(path, bearer("wrong")).status(), 401U) << path;
        EXPECT_EQ(status(path, {}).field("WWW-Authenticate"), "Bearer");
    }
    EXPECT_EQ(status("/healthz", {}).status(), 200U);
    EXPECT_NE(status("/readyz", {}).status(), 401U);
    EXPECT_EQ(status("/metrics", bearer("admin-secret")).status(), 200U);
    EXPECT_THAT(status("/config", bearer("admin-secret")).body, Not(HasSubstr("admin-secret")));
    TestClient data(port());
    data.request("/metrics", {}, bearer("admin-secret"));
    EXPECT_NE(data.read().body.substr(0, 6), "# HELP") << "never on the data port";
}

TEST_F(Access, AnAddressHasItsShareOfConnections) {
    config.limits.connections_per_address = 2;
    start({backend.url()});
    TestClient first(port());
    first.request("/");
    EXPECT_EQ(first.read().status(), 200U);
    {
        TestClient second(port());
        second.request("/");
        EXPECT_EQ(second.read().status(), 200U);
        TestClient third(port());
        EXPECT_NE(third.wait_for_end(), ReadEnd::TimedOut);
        EXPECT_TRUE(wait_for_metric("connections_over_address_limit_total", 1));
    }
    EXPECT_TRUE(wait_until([&] { return ask("/", {}).status() == 200; }));
    first.request("/");
    EXPECT_EQ(first.read().status(), 200U);
}

}  // namespace
}  // namespace prefix_router::testing
