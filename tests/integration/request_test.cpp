// Requests reach the backend as the client meant them, and in their order.
#include <string>
#include <string_view>
#include <vector>

#include "integration/support/router_test.hpp"

namespace prefix_router::testing {
namespace {

class ClientRequest : public RouterTest {
  protected:
    FakeBackend backend{[](BackendLine& line, const BackendRequest& request) {
        line.answer("answer to " + std::string(request.target()));
    }};
};

TEST_F(ClientRequest, GetsOneContinueBeforeItsBody) {
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(
        client.send("POST /x HTTP/1.1\r\nHost: r\r\nContent-Length: 5\r\n"
                    "Expect: 100-continue\r\n\r\n"));
    ASSERT_TRUE(client.read_until("HTTP/1.1 100 Continue\r\n\r\n"));
    ASSERT_TRUE(client.send("hello"));
    const Answer answer = client.read();
    EXPECT_EQ(answer.status(), 200U);
    EXPECT_EQ(answer.interims.size(), 1U);
    ASSERT_EQ(backend.requests().size(), 1U);
    EXPECT_EQ(backend.requests()[0].body, "hello");
    EXPECT_EQ(backend.requests()[0].field("Expect"), "");
}

TEST_F(ClientRequest, GetsNoContinueWhenItIsOldOrItsBodyIsThere) {
    start({backend.url()});
    for (const std::string_view version : {"HTTP/1.0", "HTTP/1.1"}) {
        TestClient client(port());
        ASSERT_TRUE(client.send("POST /x " + std::string(version) +
                                "\r\nHost: r\r\nContent-Length: 5\r\n"
                                "Expect: 100-continue\r\n\r\nhello"));
        const Answer answer = client.read();
        EXPECT_EQ(answer.status(), 200U);
        EXPECT_TRUE(version == "HTTP/1.1" || answer.interims.empty());
    }
}

TEST_F(ClientRequest, IsRefusedInsteadOfContinuedWhenItsBodyIsTooLarge) {
    config.limits.body_bytes = 1000;
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(
        client.send("POST /x HTTP/1.1\r\nHost: r\r\nContent-Length: 1001\r\n"
                    "Expect: 100-continue\r\n\r\n"));
    const Answer answer = client.read();
    EXPECT_EQ(answer.status(), 413U);
    EXPECT_TRUE(answer.interims.empty());
    EXPECT_EQ(client.wait_for_end(), ReadEnd::Ended);
}

TEST_F(ClientRequest, GoesOnWithALengthWhenItCameInChunks) {
    start({backend.url()});
    TestClient client(port());
    const std::string bytes =
        "POST /x HTTP/1.1\r\nHost: r\r\nTransfer-Encoding: chunked\r\nTrailer: T\r\n\r\n"
        "5\r\nhello\r\n6;e=1\r\n world\r\n0\r\nT: 1\r\n\r\n";
    ASSERT_TRUE(client.send(bytes));
    EXPECT_EQ(client.read().status(), 200U);
    for (const char& byte : bytes) {
        ASSERT_TRUE(client.send(std::string_view(&byte, 1)));
    }
    EXPECT_EQ(client.read().status(), 200U);
    ASSERT_EQ(backend.requests().size(), 2U);
    for (const BackendRequest& request : backend.requests()) {
        EXPECT_EQ(request.field("Content-Length"), "11");
        EXPECT_EQ(request.field("Transfer-Encoding"), "");
        EXPECT_EQ(request.body, "hello world");
    }
}

TEST_F(ClientRequest, IsAnsweredInOrderWhenPipelined) {
    start({backend.url()});
    std::string bytes;
    for (int i = 0; i < 10; ++i) {
        bytes +=
            "POST /" + std::to_string(i) + " HTTP/1.1\r\nHost: r\r\nContent-Length: 5\r\n\r\nhello";
    }
    for (const std::size_t cut : {bytes.size(), bytes.size() / 2, std::size_t{75}}) {
        TestClient client(port());
        ASSERT_TRUE(client.send(std::string_view(bytes).substr(0, cut)));
        if (cut < bytes.size()) {
            ASSERT_TRUE(client.read_until("answer to /0"));
        }
        ASSERT_TRUE(client.send(std::string_view(bytes).substr(cut)));
        for (int i = 0; i < 10; ++i) {
            EXPECT_EQ(client.read().body, "answer to /" + std::to_string(i)) << cut;
        }
    }
}

TEST_F(ClientRequest, IsAnsweredInOrderWhenPipelinedBehindAStream) {
    Gate second;
    FakeBackend streaming([&second](BackendLine& line, const BackendRequest& request) {
        if (request.target() == "/stream") {
            line.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n");
            EXPECT_TRUE(second.wait());
            line.send("1\r\nb\r\n0\r\n\r\n");
        } else {
            line.answer("next");
        }
    });
    start({streaming.url()});
    TestClient client(port());
    ASSERT_TRUE(client.send("GET /stream HTTP/1.1\r\nHost: r\r\n\r\nGET /n HTTP/1.1\r\nHo"));
    ASSERT_TRUE(client.read_until("1\r\na\r\n"));
    ASSERT_TRUE(client.send("st: r\r\n\r\n"));
    second.open();
    EXPECT_EQ(client.read().body, "ab");
    EXPECT_EQ(client.read().body, "next");
}

TEST_F(ClientRequest, CarriesWhoAskedAndAnIdThatComesBack) {
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.request("/v1/models?x=%2F", "hello",
                               "X-Request-Id: mine\r\nAuthorization: Bearer a\r\nX-End: 1\r\n"
                               "X-End: 2\r\nX-Forwarded-For: 10.0.0.1\r\nTE: trailers\r\n"
                               "Connection: keep-alive, X-Hop\r\nX-Hop: 1\r\n"));
    EXPECT_EQ(client.read().field("X-Request-Id"), "mine");
    const BackendRequest request = backend.requests().at(0);
    EXPECT_EQ(request.start_line, "POST /v1/models?x=%2F HTTP/1.1");
    EXPECT_EQ(request.field("Host"), backend.url().substr(7));
    EXPECT_EQ(request.field("X-Forwarded-Host"), "router");
    EXPECT_EQ(request.field("X-Forwarded-For"), "10.0.0.1, 127.0.0.1");
    EXPECT_EQ(request.field("X-Forwarded-Proto"), "http");
    EXPECT_EQ(request.field("X-Request-Id"), "mine");
    EXPECT_EQ(request.field("Authorization"), "Bearer a");
    EXPECT_EQ(request.fields("X-End"), (std::vector<std::string>{"1", "2"}));
    EXPECT_EQ(request.field("Via"), "1.1 prefix-router");
    EXPECT_EQ(request.field("TE") + request.field("X-Hop") + request.field("Connection"), "");
    ASSERT_TRUE(client.request("/x"));
    const std::string made = client.read().field("X-Request-Id");
    EXPECT_EQ(made.size(), 32U);
    EXPECT_EQ(made, backend.requests().at(1).field("X-Request-Id"));
}

TEST_F(ClientRequest, GoesUnderTheBackendsBasePath) {
    start({backend.url() + "/base"});
    TestClient client(port());
    ASSERT_TRUE(client.request("/v1/x?y"));
    EXPECT_EQ(client.read().status(), 200U);
    EXPECT_EQ(backend.requests().at(0).target(), "/base/v1/x?y");
}

TEST_F(ClientRequest, MayHaveAnyMethod) {
    start({backend.url()});
    TestClient client(port());
    for (const std::string method : {"OPTIONS", "DELETE", "PUT", "PATCH", "BREW"}) {
        ASSERT_TRUE(client.send(method + " /x HTTP/1.1\r\nHost: r\r\n\r\n"));
        EXPECT_EQ(client.read().status(), 200U) << method;
        EXPECT_EQ(backend.requests().back().method(), method);
    }
}

TEST_F(ClientRequest, MayBeAPreflightAndGetsItsFieldsOnce) {
    const std::string fields =
        "Access-Control-Allow-Origin: https://app\r\nAccess-Control-Allow-Methods: POST\r\n";
    FakeBackend cors(
        [&fields](BackendLine& line, const BackendRequest&) { line.answer("", "200 OK", fields); });
    start({cors.url()});
    TestClient client(port());
    ASSERT_TRUE(
        client.send("OPTIONS /v1/chat/completions HTTP/1.1\r\nHost: r\r\nOrigin: https://app\r\n"
                    "Access-Control-Request-Method: POST\r\n\r\n"));
    const Answer answer = client.read();
    EXPECT_EQ(answer.field("Access-Control-Allow-Origin"), "https://app");
    EXPECT_EQ(answer.field("Access-Control-Allow-Methods"), "POST");
    EXPECT_EQ(cors.requests().at(0).field("Origin"), "https://app");
    EXPECT_EQ(cors.requests().at(0).field("Access-Control-Request-Method"), "POST");
}

TEST_F(ClientRequest, MayBeAnUpload) {
    start({backend.url()});
    const std::string type = "multipart/form-data; boundary=\"--a b\"";
    const std::string parts =
        "----a b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"\"\r\n\r\n\r\n"
        "----a b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x.wav\"\r\n\r\n" +
        std::string(30 << 20, '\0') + "\r\n----a b--\r\n";
    const std::string fields = "Content-Type: " + type + "\r\nAuthorization: Bearer k\r\n";
    TestClient client(port());
    ASSERT_TRUE(client.request("/v1/audio/transcriptions", parts, fields));
    EXPECT_EQ(client.read().status(), 200U);
    ASSERT_TRUE(client.send("POST /v1/audio/transcriptions HTTP/1.1\r\nHost: r\r\n" + fields +
                            "Transfer-Encoding: chunked\r\n\r\n5\r\n----a\r\n0\r\n\r\n"));
    EXPECT_EQ(client.read().status(), 200U);
    const auto requests = backend.requests();
    ASSERT_EQ(requests.size(), 2U);
    EXPECT_TRUE(requests[0].body == parts);
    EXPECT_EQ(requests[1].body, "----a");
    for (const BackendRequest& request : requests) {
        EXPECT_EQ(request.field("Content-Type"), type);
        EXPECT_EQ(request.field("Authorization"), "Bearer k");
    }
}

TEST_F(ClientRequest, ClosesWhenItSaysSo) {
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.request("/x", {}, "Connection: close\r\n"));
    const Answer answer = client.read();
    EXPECT_EQ(answer.status(), 200U);
    EXPECT_EQ(answer.field("Connection"), "close");
    EXPECT_EQ(client.wait_for_end(), ReadEnd::Ended);
}

struct Refused {
    std::string name;
    std::string bytes;
    unsigned status;
};

std::vector<Refused> refusals() {
    const std::string long_name(70'000, 'a');
    const std::string surplus(4 << 20, 'x');
    return {
        Refused{"garbage", "nonsense\r\n\r\n" + surplus, 400},
        Refused{"TLS", "\x16\x03\x01" + surplus, 400},
        Refused{"no host", "GET / HTTP/1.1\r\n\r\n" + surplus, 400},
        Refused{"two lengths",
                "POST / HTTP/1.1\r\nHost: r\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n" +
                    surplus,
                400},
        Refused{"broken chunk",
                "POST / HTTP/1.1\r\nHost: r\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" + surplus,
                400},
        Refused{"large body",
                "POST / HTTP/1.1\r\nHost: r\r\nContent-Length: 4194304\r\n\r\n" + surplus, 413},
        Refused{
            "large chunked body",
            "POST / HTTP/1.1\r\nHost: r\r\nTransfer-Encoding: chunked\r\n\r\n400000\r\n" + surplus,
            413},
        Refused{"long target", "GET /" + long_name + " HTTP/1.1\r\nHost: r\r\n\r\n" + surplus, 414},
        Refused{"expectation",
                "POST / HTTP/1.1\r\nHost: r\r\nExpect: more\r\nContent-Length: 4194304\r\n\r\n" +
                    surplus,
                417},
        Refused{"large head", "GET / HTTP/1.1\r\nHost: r\r\nA: " + long_name + surplus, 431},
        Refused{"coding", "POST / HTTP/1.1\r\nHost: r\r\nTransfer-Encoding: gzip\r\n\r\n" + surplus,
                501},
    };
}

TEST_F(ClientRequest, IsRefusedReadablyWhileTheClientStillSends) {
    config.limits.body_bytes = 1000;
    start({backend.url()});
    for (const Refused& refused : refusals()) {
        TestClient client(port());
        EXPECT_TRUE(client.send(refused.bytes)) << refused.name;
        const Answer answer = client.read();
        EXPECT_EQ(answer.status(), refused.status) << refused.name;
        EXPECT_TRUE(answer.is_complete) << refused.name;
        EXPECT_EQ(answer.field("Connection"), "close") << refused.name;
        EXPECT_NE(answer.body.find("\"error\""), std::string::npos) << refused.name;
        EXPECT_EQ(client.wait_for_end(), ReadEnd::Ended) << refused.name;
    }
    EXPECT_TRUE(backend.requests().empty());
}

TEST_F(ClientRequest, MayTakeALongTimeBetweenTwoOfThem) {
    config.timeouts.client_idle = std::chrono::milliseconds(1000);
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.request("/x"));
    EXPECT_EQ(client.read().status(), 200U);
    EXPECT_EQ(client.wait_for_end(), ReadEnd::Ended) << "idle connections end silently";
}

}  // namespace
}  // namespace prefix_router::testing
