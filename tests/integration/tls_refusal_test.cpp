// What is no TLS, what TLS is refused, and the files it stands on.
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include <gmock/gmock.h>

#include "integration/support/tls_router_test.hpp"

namespace prefix_router::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TlsRefusal : public TlsRouterTest {
  protected:
    bool is_refused(SSL_CTX* context) { return !connect(context).socket().is_open(); }
    std::string error_at_start() {
        auto backend = config::backend_from_url("http://127.0.0.1:1");
        config.backends = {*backend};
        auto started = app::Application::start(config);
        return started ? "" : started.error().message();
    }
};

TEST_F(TlsRefusal, PlainHttpIsToldWhichPortThisIs) {
    FakeBackend backend;
    start({backend.url()});
    for (const std::string_view request :
         {"GET / HTTP/1.1\r\nHost: r\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: r\r\n\r\n"}) {
        TestClient client(port());
        client.send(request);
        const Answer answer = client.read();
        EXPECT_EQ(answer.status(), 400U);
        EXPECT_THAT(answer.body, HasSubstr("https://"));
        EXPECT_THAT(answer.body, HasSubstr("tls_failed"));
        client.socket().end_sending();
        EXPECT_EQ(client.wait_for_end(), ReadEnd::Ended);
    }
    EXPECT_TRUE(wait_for_metric("errors_total", 2, "\"tls_failed\""));
}

TEST_F(TlsRefusal, GarbageEndsItsConnectionOnly) {
    FakeBackend backend;
    start({backend.url()});
    const std::string hello("\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00", 10);
    const std::string huge = std::string("\x16\x03\x01\xff\xff", 5) + noise(100'000);
    const std::string old("\x80\x2e\x01\x00\x02", 5);
    for (const std::string& garbage :
         {hello, huge, old + noise(1000), std::string(1, '\0') + noise(5000)}) {
        TestClient client(port());
        client.send(garbage);
        client.socket().end_sending();
        EXPECT_NE(client.wait_for_end(), ReadEnd::TimedOut);
    }
    EXPECT_TRUE(wait_for_metric("errors_total", 4, "\"tls_failed\""));
    TestClient client = connect();
    client.request("/");
    EXPECT_EQ(client.read().body, "ok");
}

TEST_F(TlsRefusal, HandshakesHaveADeadline) {
    config.timeouts.tls_handshake = std::chrono::milliseconds(100);
    FakeBackend backend;
    start({backend.url()});
    TestClient silent(port());
    TestClient half(port());
    half.send(std::string("\x16\x03\x01\x02\x00\x01\x00", 7));
    EXPECT_EQ(silent.wait_for_end(), ReadEnd::Ended);
    EXPECT_NE(half.wait_for_end(), ReadEnd::TimedOut);
    EXPECT_TRUE(wait_for_metric("errors_total", 2, "\"tls_timeout\""));
}

TEST_F(TlsRefusal, OldVersionsAndOtherProtocolsAreRefused) {
    FakeBackend backend;
    start({backend.url()});
    const auto old = client_context(authority.file());
    SSL_CTX_set_security_level(old.get(), 0);
    SSL_CTX_set_min_proto_version(old.get(), TLS1_VERSION);
    SSL_CTX_set_max_proto_version(old.get(), TLS1_1_VERSION);
    EXPECT_TRUE(is_refused(old.get()));
    const auto h2 = client_context(authority.file());
    const unsigned char only_h2[] = "\x02h2";
    SSL_CTX_set_alpn_protos(h2.get(), only_h2, 3);
    EXPECT_TRUE(is_refused(h2.get()));
    const auto both = client_context(authority.file());
    const unsigned char offer[] = "\x02h2\x08http/1.1";
    SSL_CTX_set_alpn_protos(both.get(), offer, 12);
    TestClient client = connect(both.get());
    ASSERT_TRUE(client.socket().is_open());
    const unsigned char* chosen = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(client.socket().tls(), &chosen, &size);
    EXPECT_EQ(std::string(chosen, chosen + size), "http/1.1");
}

TEST_F(TlsRefusal, TheLeastVersionIsConfigured) {
    config.tls.min_version = config::TlsVersion::Tls13;
    FakeBackend backend;
    start({backend.url()});
    const auto old = client_context(authority.file());
    SSL_CTX_set_max_proto_version(old.get(), TLS1_2_VERSION);
    EXPECT_TRUE(is_refused(old.get()));
    EXPECT_FALSE(is_refused(trusting.get()));
}

TEST_F(TlsRefusal, NobodyMayRenegotiate) {
    FakeBackend backend;
    start({backend.url()});
    const auto context = client_context(authority.file());
    SSL_CTX_set_max_proto_version(context.get(), TLS1_2_VERSION);
    TestClient client = connect(context.get());
    ASSERT_TRUE(client.socket().is_open());
    SSL_renegotiate(client.socket().tls());
    EXPECT_NE(SSL_do_handshake(client.socket().tls()), 1);
}

TEST_F(TlsRefusal, ClientsShowACertificateWhereItIsAskedFor) {
    const Authority others("clients");
    Authority clients("clients");
    config.tls.client_ca = clients.file();
    FakeBackend backend;
    start({backend.url()});
    // A TLS 1.3 client learns of the refusal after its side of the handshake is done.
    const auto is_served = [&](const std::optional<CertificateFiles>& own) {
        const auto context = client_context(authority.file(), own);
        TestClient client = connect(context.get());
        return client.socket().is_open() && client.request("/") && client.read().status() == 200;
    };
    EXPECT_FALSE(is_served(std::nullopt));
    EXPECT_FALSE(is_served(authority.issue("stranger", "DNS:stranger")));
    EXPECT_TRUE(is_served(clients.issue("friend", "DNS:friend")));
    EXPECT_TRUE(backend.requests().size() == 1);
}

TEST_F(TlsRefusal, ANewCertificateIsShownToNewConnectionsAndABadOneChangesNothing) {
    FakeBackend backend;
    start({backend.url()});
    TestClient open = connect();
    const long before = serial_of(open);
    const CertificateFiles other = authority.issue("other", "DNS:localhost");
    std::filesystem::copy_file(other.key, files.key,
                               std::filesystem::copy_options::overwrite_existing);
    const auto refused = router().reload("test");
    EXPECT_THAT(
        refused.problems,
        ElementsAre(AllOf(HasSubstr(files.key), HasSubstr("is not the key of the certificate"))));
    TestClient unchanged = connect();
    EXPECT_EQ(serial_of(unchanged), before);

    std::filesystem::copy_file(other.certificate, files.certificate,
                               std::filesystem::copy_options::overwrite_existing);
    EXPECT_THAT(router().reload("test").problems, IsEmpty());
    TestClient renewed = connect();
    EXPECT_NE(serial_of(renewed), before);
    for (TestClient* const client : {&open, &unchanged, &renewed}) {
        client->request("/");
        EXPECT_EQ(client->read().body, "ok");
    }
}

TEST_F(TlsRefusal, FilesThatCannotBeUsedAreNamedAtTheStart) {
    const CertificateFiles other = authority.issue("other", "DNS:localhost");
    const std::string text = authority.path("text");
    std::ofstream(text) << "no certificate\n";
    const std::string empty = authority.path("empty");
    std::ofstream(empty) << "";
    const auto with = [&](std::string certificate, std::string key, std::string client_ca = {}) {
        config.tls.certificate = std::move(certificate);
        config.tls.key = std::move(key);
        config.tls.client_ca = client_ca.empty() ? std::nullopt : std::optional(client_ca);
        return error_at_start();
    };
    EXPECT_THAT(with("/nowhere.pem", files.key),
                HasSubstr("tls.certificate: /nowhere.pem: cannot be read: No such file"));
    EXPECT_THAT(with(empty, files.key), HasSubstr("is empty"));
    EXPECT_THAT(with(text, files.key), HasSubstr("holds no certificate in PEM"));
    EXPECT_THAT(with(files.certificate, "/nowhere.key"),
                HasSubstr("tls.key: /nowhere.key: cannot be read: No such file"));
    EXPECT_THAT(with(files.certificate, text), HasSubstr("holds no unencrypted private key"));
    EXPECT_THAT(with(files.certificate, other.key), HasSubstr("is not the key of the certificate"));
    EXPECT_THAT(with(files.certificate, files.key, text), HasSubstr("tls.client_ca: " + text));
    EXPECT_EQ(with(files.certificate, files.key, authority.file()), "");
}

}  // namespace
}  // namespace prefix_router::testing
