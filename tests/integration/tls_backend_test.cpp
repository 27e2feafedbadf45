// https:// backends: who is believed, what is shown, and what a failure looks like.
#include <sys/socket.h>

#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <gmock/gmock.h>

#include "integration/support/tls_router_test.hpp"

namespace prefix_router::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class TlsBackend : public RouterTest {
  protected:
    TlsBackend() : good(authority.issue("backend", "IP:127.0.0.1,DNS:engine.internal")) {}

    /// A backend that is dialled with `tls`.
    void add(const FakeBackend& added, config::BackendTls tls) {
        auto made = config::backend_from_url(added.url());
        ASSERT_TRUE(made.has_value());
        made->tls = std::move(tls);
        config.backends.push_back(std::move(*made));
    }
    config::BackendTls trusting() {
        config::BackendTls tls;
        tls.ca = authority.file();
        return tls;
    }
    /// The answer to a request that a backend with `certificate` gets from a router with `tls`.
    Answer ask(const CertificateFiles& certificate, config::BackendTls tls) {
        backend.speak_tls(server_context(certificate));
        add(backend, std::move(tls));
        launch({});
        TestClient client(port());
        client.request("/");
        return client.read();
    }
    void expect_refused(const Answer& answer, std::string_view why) {
        EXPECT_EQ(answer.status(), 502U);
        EXPECT_THAT(answer.body, HasSubstr("backend_certificate"));
        EXPECT_THAT(answer.head + answer.body, Not(HasSubstr("127.0.0.1")));
        EXPECT_TRUE(wait_until([&] {
            return admin("/backends").body.find(why) != std::string::npos;
        })) << admin("/backends").body;
        EXPECT_TRUE(wait_for_metric("errors_total", 1, "\"backend_certificate\""));
        EXPECT_TRUE(backend.requests().empty());
        is_published_to_the_end = false;
    }

    Authority authority;
    CertificateFiles good;
    FakeBackend backend;
};

TEST_F(TlsBackend, IsProbedAndServesOverConnectionsThatAreKept) {
    backend.speak_tls(server_context(good));
    add(backend, trusting());
    start({});
    TestClient client(port());
    for (int i = 0; i < 3; ++i) {
        client.request("/");
        EXPECT_EQ(client.read().body, "ok");
    }
    EXPECT_EQ(backend.requests().at(2).connection, 0U);
    EXPECT_EQ(backend.requests().at(2).number, 2U);
    EXPECT_EQ(backend.requests().at(0).field("Host"),
              "127.0.0.1:" + std::to_string(backend.port()));
}

TEST_F(TlsBackend, NewConnectionsResumeItsSession) {
    FakeBackend closing([](BackendLine& line, const BackendRequest&) {
        line.answer("ok", "200 OK", "Connection: close\r\n");
        line.end();
    });
    closing.speak_tls(server_context(good));
    add(closing, trusting());
    start({});
    TestClient client(port());
    for (int i = 0; i < 4; ++i) {
        client.request("/");
        EXPECT_EQ(client.read().body, "ok");
    }
    EXPECT_GE(closing.resumed_sessions(), 3U);
}

TEST_F(TlsBackend, IsAskedForByNameAndVerifiedByIt) {
    const CertificateFiles named = authority.issue("named", "DNS:engine.internal");
    config::BackendTls tls = trusting();
    tls.server_name = "engine.internal";
    EXPECT_EQ(ask(named, std::move(tls)).body, "ok");
    EXPECT_EQ(backend.server_names().back(), "engine.internal");
}

TEST_F(TlsBackend, OfAnUnknownAuthorityIsRefused) {
    expect_refused(ask(good, config::BackendTls()), "unable to get local issuer certificate");
}

TEST_F(TlsBackend, WithAnotherNameIsRefused) {
    expect_refused(ask(authority.issue("other", "IP:127.0.0.2"), trusting()),
                   "IP address mismatch");
}

TEST_F(TlsBackend, WithACertificateThatExpiredIsRefused) {
    const auto expired = authority.issue("expired", "IP:127.0.0.1", std::chrono::hours(-1));
    expect_refused(ask(expired, trusting()), "certificate has expired");
}

TEST_F(TlsBackend, IsBelievedUnseenWhereThatIsConfigured) {
    config::BackendTls blind;
    blind.verify = false;
    EXPECT_EQ(ask(authority.issue("other", "DNS:elsewhere"), std::move(blind)).body, "ok");
}

TEST_F(TlsBackend, IsShownTheRoutersCertificate) {
    Authority clients("clients");
    const CertificateFiles own = clients.issue("router", "DNS:router");
    backend.speak_tls(server_context(good, clients.file()));
    config::BackendTls tls = trusting();
    tls.client_certificate = own.certificate;
    tls.client_key = own.key;
    add(backend, std::move(tls));
    FakeBackend closed;
    closed.speak_tls(server_context(good, clients.file()));
    add(closed, trusting());
    launch({});
    ASSERT_TRUE(wait_for_metric("backend_healthy", 1));
    for (int i = 0; i < 4; ++i) {
        TestClient client(port());
        client.request("/");
        EXPECT_EQ(client.read().body, "ok");
    }
    EXPECT_TRUE(closed.requests().empty());
}

/// Says the same to whoever connects.
class PlainServer {
  public:
    PlainServer() : listener_(Socket::bind_to(SocketAddress::ipv4(0))) {
        ::listen(listener_.descriptor(), 16);
        thread_ = std::thread([this] { answer_all(); });
    }
    ~PlainServer() {
        listener_.shut_down();
        thread_.join();
    }
    PlainServer(const PlainServer&) = delete;
    PlainServer& operator=(const PlainServer&) = delete;

    std::uint16_t port() const { return listener_.local_address().port(); }

  private:
    void answer_all() {
        while (true) {
            const Socket socket(::accept4(listener_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC));
            if (!socket.is_open()) {
                return;
            }
            socket.send("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
            socket.end_sending();
            std::string ignored;
            socket.receive_to_end(ignored);
        }
    }

    Socket listener_;
    std::thread thread_;
};

TEST_F(TlsBackend, ThatSpeaksNoTlsIsAnErrorOfItsOwn) {
    const PlainServer plain;
    auto made = config::backend_from_url("https://127.0.0.1:" + std::to_string(plain.port()));
    made->tls = trusting();
    config.backends.push_back(*made);
    launch({});
    TestClient client(port());
    client.request("/");
    const Answer answer = client.read();
    EXPECT_EQ(answer.status(), 502U);
    EXPECT_THAT(answer.body, HasSubstr("backend_tls_failed"));
    EXPECT_TRUE(wait_for_metric("errors_total", 1, "\"backend_tls_failed\""));
    is_published_to_the_end = false;
}

TEST_F(TlsBackend, ThatNeverCompletesTheHandshakeIsLeftForAnother) {
    config.timeouts.tls_handshake = std::chrono::milliseconds(100);
    config.health.passive_failures = 1000;
    config.routing.strategy = config::Strategy::RoundRobin;
    Socket silent = Socket::bind_to(SocketAddress::ipv4(0));
    ::listen(silent.descriptor(), 16);
    auto stuck = config::backend_from_url("https://127.0.0.1:" +
                                          std::to_string(silent.local_address().port()));
    stuck->tls = trusting();
    config.backends.push_back(*stuck);
    launch({backend.url()});
    for (int i = 0; i < 4; ++i) {
        TestClient client(port());
        client.request("/");
        EXPECT_EQ(client.read().body, "ok");
    }
    EXPECT_EQ(backend.requests().size(), 4U);
}

TEST_F(TlsBackend, BodiesPassByteForByteAndACutOneIsCut) {
    const std::string up = noise(2'000'000);
    const std::string down = noise(2'000'000, 7);
    FakeBackend big([&](BackendLine& line, const BackendRequest& request) {
        EXPECT_TRUE(request.body == up);
        line.send("HTTP/1.1 200 OK\r\n\r\n");
        for (std::size_t at = 0, size = 1; at < down.size(); at += size, size = size * 3 % 70'001) {
            line.send(std::string_view(down).substr(at, size));
        }
        request.target() == "/whole" ? line.end() : line.reset();
    });
    big.speak_tls(server_context(good));
    add(big, trusting());
    start({});
    for (const std::string_view target : {"/whole", "/cut"}) {
        TestClient client(port());
        client.request(target, up);
        const Answer answer = client.read();
        EXPECT_EQ(answer.is_complete, target == "/whole");
        EXPECT_TRUE(target == "/cut" || answer.body == down);
    }
    EXPECT_TRUE(wait_for_metric("errors_total", 1, "\"reset_mid_response\""));
}

TEST_F(TlsBackend, AnEndWithoutTlsOwnEndIsCut) {
    // What somebody between can do: end the connection, but not in the backend's name.
    FakeBackend cut([](BackendLine& line, const BackendRequest&) {
        line.send("HTTP/1.1 200 OK\r\n\r\nhalf an answer");
        line.cut();
    });
    cut.speak_tls(server_context(good));
    add(cut, trusting());
    start({});
    TestClient client(port());
    client.request("/");
    EXPECT_FALSE(client.read().is_complete);
    EXPECT_TRUE(wait_for_metric("errors_total", 1, "\"reset_mid_response\""));
}

TEST_F(TlsBackend, AClientThatLeavesEndsItsWork) {
    Gate left;
    FakeBackend slow([&](BackendLine& line, const BackendRequest&) {
        EXPECT_TRUE(line.wait_until_left());
        left.open();
    });
    slow.speak_tls(server_context(good));
    add(slow, trusting());
    start({});
    TestClient client(port());
    client.request("/v1/completions", R"({"prompt": "long"})");
    ASSERT_TRUE(slow.wait_for_requests(1));
    client.socket().close();
    EXPECT_TRUE(left.wait());
}

TEST_F(TlsBackend, FilesThatCannotBeUsedAreNamedAtTheStart) {
    auto made = config::backend_from_url("https://127.0.0.1:1");
    made->tls.ca = "/nowhere.pem";
    config.backends = {*made};
    const auto started = app::Application::start(config);
    ASSERT_FALSE(started.has_value());
    EXPECT_THAT(started.error().message(), HasSubstr("tls.ca: /nowhere.pem: cannot be read"));
}

}  // namespace
}  // namespace prefix_router::testing
