// The HTTP client of the router's own errands: what it sends, what it gives back, and that it ends
// when told to.
#include "prefix_router/web/http_client.hpp"

#include <atomic>
#include <csignal>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/support/authority.hpp"
#include "integration/support/fake_backend.hpp"
#include "integration/support/gate.hpp"

namespace prefix_router::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using web::HttpClient;
using web::HttpRequest;

std::string text_of(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

class HttpClientTest : public ::testing::Test {
  protected:
    // OpenSSL writes without MSG_NOSIGNAL; the daemon ignores the signal, too.
    HttpClientTest() { static_cast<void>(std::signal(SIGPIPE, SIG_IGN)); }

    static HttpRequest request_to(const FakeBackend& server, const std::string& path = "/thing") {
        HttpRequest request;
        request.url = server.url() + path;
        request.timeout = kPatience;
        return request;
    }

    HttpClient client;
};

TEST_F(HttpClientTest, SendsMethodFieldsAndBodyAndGivesBackStatusAndBody) {
    FakeBackend server(
        [](BackendLine& line, const BackendRequest&) { line.answer("made", "201 Created"); });
    HttpRequest request = request_to(server, "/thing?a=b");
    request.method = "POST";
    request.headers = {"Content-Type: application/json", "Authorization: Bearer secret"};
    request.body = std::string("{\0}", 3);
    const auto answer = client.exchange(request);
    ASSERT_TRUE(answer.has_value()) << answer.error().message();
    EXPECT_EQ(answer->status, 201);
    EXPECT_EQ(answer->body, "made");
    const BackendRequest got = server.requests().at(0);
    EXPECT_EQ(got.start_line, "POST /thing?a=b HTTP/1.1");
    EXPECT_EQ(got.field("Content-Type"), "application/json");
    EXPECT_EQ(got.field("Authorization"), "Bearer secret");
    EXPECT_EQ(got.field("Expect"), "");
    EXPECT_EQ(got.body, request.body);
}

TEST_F(HttpClientTest, KeepsItsConnection) {
    FakeBackend server;
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(client.exchange(request_to(server)).has_value());
    }
    EXPECT_EQ(server.requests().at(2).connection, 0U);
    EXPECT_EQ(server.requests().at(2).number, 2U);
}

TEST_F(HttpClientTest, GivesBackErrorsOfTheServerWithTheirRetryAfter) {
    FakeBackend server([](BackendLine& line, const BackendRequest&) {
        line.answer("busy", "429 Too Many Requests", "Retry-After: 7\r\n");
    });
    std::string streamed;
    const auto answer = client.stream(request_to(server), [&](std::string_view piece) {
        streamed += piece;
        return true;
    });
    ASSERT_TRUE(answer.has_value()) << answer.error().message();
    EXPECT_EQ(answer->status, 429);
    EXPECT_EQ(answer->body, "busy");
    EXPECT_EQ(answer->retry_after, std::chrono::seconds(7));
    EXPECT_EQ(streamed, "");
}

TEST_F(HttpClientTest, FollowsNoRedirect) {
    FakeBackend server([](BackendLine& line, const BackendRequest&) {
        line.answer("", "302 Found", "Location: /elsewhere\r\n");
    });
    const auto answer = client.exchange(request_to(server));
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->status, 302);
    EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(HttpClientTest, StreamsEachPieceBeforeTheNextIsSent) {
    Gate has_first;
    FakeBackend server([&](BackendLine& line, const BackendRequest&) {
        line.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n");
        EXPECT_TRUE(has_first.wait());
        line.send("6\r\nsecond\r\n0\r\n\r\n");
    });
    std::string streamed;
    const auto answer = client.stream(request_to(server), [&](std::string_view piece) {
        streamed += piece;
        if (!piece.empty()) {
            has_first.open();
        }
        return true;
    });
    ASSERT_TRUE(answer.has_value()) << answer.error().message();
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(streamed, "firstsecond");
}

TEST_F(HttpClientTest, TellsOfTheHeadBeforeAnyBody) {
    Gate has_head;
    FakeBackend server([&](BackendLine& line, const BackendRequest&) {
        line.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        EXPECT_TRUE(has_head.wait());
        line.send("4\r\nbody\r\n0\r\nX-Trailer: a\r\n\r\n");
    });
    std::vector<std::string> pieces;
    const auto answer = client.stream(request_to(server), [&](std::string_view piece) {
        pieces.emplace_back(piece);
        has_head.open();
        return true;
    });
    ASSERT_TRUE(answer.has_value()) << answer.error().message();
    EXPECT_THAT(pieces, ElementsAre("", "body"));
}

TEST_F(HttpClientTest, AStreamEndsWhereItsReaderIsDone) {
    FakeBackend server([&](BackendLine& line, const BackendRequest&) {
        line.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n");
        EXPECT_TRUE(line.wait_until_left());
    });
    const auto answer = client.stream(request_to(server), [](std::string_view) { return false; });
    ASSERT_TRUE(answer.has_value()) << answer.error().message();
    EXPECT_EQ(answer->status, 200);
}

TEST_F(HttpClientTest, AnAnswerThatIsCutIsAnError) {
    FakeBackend server([&](BackendLine& line, const BackendRequest&) {
        line.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
        line.end();
    });
    EXPECT_TRUE(client.exchange(request_to(server)).has_error());
}

TEST_F(HttpClientTest, AnAnswerThatIsTooLargeIsAnError) {
    FakeBackend server([](BackendLine& line, const BackendRequest&) { line.answer("0123456789"); });
    HttpRequest request = request_to(server);
    request.most_body_bytes = 9;
    const auto answer = client.exchange(request);
    ASSERT_TRUE(answer.has_error());
    EXPECT_THAT(answer.error().message(), HasSubstr("larger than 9 bytes"));
}

TEST_F(HttpClientTest, ASilentServerIsAnErrorAfterTheTimeout) {
    FakeBackend server(
        [&](BackendLine& line, const BackendRequest&) { EXPECT_TRUE(line.wait_until_left()); });
    HttpRequest request = request_to(server);
    request.timeout = std::chrono::milliseconds(50);
    const auto answer = client.exchange(request);
    ASSERT_TRUE(answer.has_error());
    EXPECT_EQ(answer.error().kind(), ErrorKind::Io);
}

TEST_F(HttpClientTest, CancellingEndsAWaitThatHasNoTimeoutAndAllLaterOnes) {
    Gate arrived;
    FakeBackend server([&](BackendLine& line, const BackendRequest&) {
        arrived.open();
        EXPECT_TRUE(line.wait_until_left());
    });
    HttpRequest request = request_to(server);
    request.timeout = std::chrono::milliseconds(0);
    std::thread canceller([&] {
        EXPECT_TRUE(arrived.wait());
        client.cancel();
    });
    const auto answer = client.exchange(request);
    canceller.join();
    ASSERT_TRUE(answer.has_error());
    EXPECT_EQ(answer.error().kind(), ErrorKind::Draining);
    EXPECT_EQ(client.exchange(request).error().kind(), ErrorKind::Draining);
    EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(HttpClientTest, OtherProtocolsAreRefused) {
    HttpRequest request;
    request.url = "file:///etc/hostname";
    EXPECT_TRUE(client.exchange(request).has_error());
}

class HttpClientTls : public HttpClientTest {
  protected:
    HttpClientTls() : own(authority.issue("server", "IP:127.0.0.1")) {}

    Authority authority;
    CertificateFiles own;
};

TEST_F(HttpClientTls, BelievesTheAuthorityThatItIsGivenAndNoOther) {
    FakeBackend server;
    server.speak_tls(server_context(own));
    HttpRequest request = request_to(server);
    EXPECT_TRUE(client.exchange(request).has_error());
    request.tls.ca = text_of(Authority("another").file());
    EXPECT_TRUE(client.exchange(request).has_error());
    request.tls.ca = text_of(authority.file());
    const auto answer = client.exchange(request);
    ASSERT_TRUE(answer.has_value()) << answer.error().message();
    EXPECT_EQ(answer->body, "ok");
}

TEST_F(HttpClientTls, RefusesAnotherName) {
    FakeBackend server;
    server.speak_tls(server_context(authority.issue("other", "IP:127.0.0.2")));
    HttpRequest request = request_to(server);
    request.tls.ca = text_of(authority.file());
    EXPECT_TRUE(client.exchange(request).has_error());
    request.tls.verify = false;
    EXPECT_TRUE(client.exchange(request).has_value());
}

TEST_F(HttpClientTls, ShowsItsCertificate) {
    FakeBackend server;
    server.speak_tls(server_context(own, authority.file()));
    HttpRequest request = request_to(server);
    request.tls.ca = text_of(authority.file());
    EXPECT_TRUE(client.exchange(request).has_error());
    const CertificateFiles shown = authority.issue("client", "DNS:router");
    request.tls.certificate = text_of(shown.certificate);
    request.tls.key = text_of(shown.key);
    const auto answer = client.exchange(request);
    ASSERT_TRUE(answer.has_value()) << answer.error().message();
}

}  // namespace
}  // namespace prefix_router::testing
