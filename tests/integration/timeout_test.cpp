// Each phase of a request has its own timeout, its own error code and its own count.
#include <string>
#include <string_view>

#include "integration/support/router_test.hpp"

namespace prefix_router::testing {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kChunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

class Timeout : public RouterTest {
  protected:
    Timeout() { config.health.passive_failures = 1000; }

    static FakeBackend::Script silent_after(std::string_view bytes) {
        return [bytes](BackendLine& line, const BackendRequest&) {
            line.send(bytes);
            EXPECT_TRUE(line.wait_until_left());
        };
    }

    void expect(const Answer& answer, unsigned status, const std::string& code) {
        EXPECT_EQ(answer.status(), status) << code;
        EXPECT_NE(answer.body.find("\"code\": \"" + code + "\""), std::string::npos) << answer.body;
        expect_counted(code);
    }
    void expect_counted(const std::string& code) {
        EXPECT_TRUE(wait_for_metric("errors_total", 1, "\"" + code + "\"")) << code;
    }
};

TEST_F(Timeout, OfTheRequestHeaderAndOfItsBodyAreTheClients) {
    config.timeouts.request_header = milliseconds(300);
    config.timeouts.request_body = milliseconds(300);
    FakeBackend backend;
    start({backend.url()});
    TestClient header(port());
    ASSERT_TRUE(header.send("GET / HTTP/1.1\r\nHo"));
    expect(header.read(), 408, "request_header_timeout");
    TestClient body(port());
    ASSERT_TRUE(body.send("POST / HTTP/1.1\r\nHost: r\r\nContent-Length: 5\r\n\r\nhel"));
    expect(body.read(), 408, "request_body_timeout");
    TestClient chunk(port());
    ASSERT_TRUE(
        chunk.send("POST / HTTP/1.1\r\nHost: r\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nh"));
    EXPECT_EQ(chunk.read().status(), 408U);
    EXPECT_TRUE(backend.requests().empty()) << "no backend is kept busy by half a request";
}

TEST_F(Timeout, OfABodyThatCrawlsIsNotPutOffByEveryByte) {
    config.timeouts.request_body = milliseconds(600);
    FakeBackend backend;
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.send("POST / HTTP/1.1\r\nHost: r\r\nContent-Length: 100000\r\n\r\n"));
    std::string answer;
    int bytes = 0;
    while (bytes < 100 && client.send("x") &&
           client.socket().receive(answer, milliseconds(50)) == ReadEnd::TimedOut) {
        ++bytes;
    }
    EXPECT_LT(bytes, 100);
    EXPECT_NE(answer.find("408"), std::string::npos);
}

TEST_F(Timeout, OfConnectingIsItsOwn) {
    config.timeouts.connect = milliseconds(300);
    FakeBackend deaf;
    start({deaf.url()});
    deaf.turn_deaf();
    TestClient client(port());
    ASSERT_TRUE(client.request("/x", "hello"));
    expect(client.read(), 504, "connect_timeout");
    EXPECT_EQ(metric("backend_failures_total"), 1);
}

TEST_F(Timeout, OfTheFirstByteIsItsOwn) {
    config.timeouts.first_byte = milliseconds(300);
    // An interim answer or half a head is none yet.
    for (const std::string_view bytes : {"", "HTTP/1.1 200 OK\r\nContent-Le"}) {
        FakeBackend backend(silent_after(bytes));
        config.backends.clear();
        start({backend.url()});
        TestClient client(port());
        ASSERT_TRUE(client.request("/x", "hello"));
        expect(client.read(), 504, "first_byte_timeout");
        EXPECT_EQ(backend.requests().size(), 1U) << "a slow request is not sent twice";
        ASSERT_TRUE(client.request("/x", "hello")) << "the client's connection stays";
        EXPECT_EQ(client.read().status(), 504U);
    }
}

TEST_F(Timeout, OfSilenceInsideAnAnswerIsItsOwnAndStartsAnewWithEveryPiece) {
    config.timeouts.idle = milliseconds(1500);
    config.timeouts.first_byte = milliseconds(1500);
    Gate ended;
    FakeBackend backend([&ended](BackendLine& line, const BackendRequest& request) {
        line.send(kChunkedHead);
        std::string ignored;
        for (int i = 0; i < 8 && request.target() == "/lively"; ++i) {
            line.receive(ignored, milliseconds(300));  // time passes
            line.send("1\r\na\r\n");
        }
        if (request.target() == "/lively") {
            line.send("0\r\n\r\n");
        } else {
            EXPECT_TRUE(line.wait_until_left());
            ended.open();
        }
    });
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.request("/lively", "hello"));
    const Answer lively = client.read();
    EXPECT_TRUE(lively.is_complete);
    EXPECT_EQ(lively.body, "aaaaaaaa");
    ASSERT_TRUE(client.request("/silent", "hello"));
    EXPECT_FALSE(client.read().is_complete);
    EXPECT_TRUE(ended.wait());
    expect_counted("idle_timeout");
}

TEST_F(Timeout, OfAWholeRequestIsItsOwnAndNoFailureOfTheBackend) {
    config.timeouts.total = milliseconds(300);
    for (const std::string_view bytes : {std::string_view(), kChunkedHead}) {
        FakeBackend backend(silent_after(bytes));
        config.backends.clear();
        start({backend.url()});
        TestClient client(port());
        ASSERT_TRUE(client.request("/x", "hello"));
        const Answer answer = client.read();
        if (bytes.empty()) {
            expect(answer, 504, "total_timeout");
        } else {
            EXPECT_FALSE(answer.is_complete);
            expect_counted("total_timeout");
        }
        EXPECT_EQ(metric("backend_failures_total"), 0);
    }
}

TEST_F(Timeout, OfAClientThatDoesNotReadIsAsIfItHadLeft) {
    config.timeouts.idle = milliseconds(500);
    const std::string piece(1 << 20, 'x');
    Gate left;
    FakeBackend backend([&](BackendLine& line, const BackendRequest&) {
        line.send("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n");
        std::size_t sent = 0;
        while (sent < 1024 && line.send(piece)) {
            ++sent;
        }
        EXPECT_LT(sent, 1024U);
        left.open();
    });
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.request("/x", "hello"));
    EXPECT_TRUE(left.wait());
    expect_counted("client_stalled");
    EXPECT_EQ(metric("client_aborts_total"), 1);
    EXPECT_EQ(metric("backend_failures_total"), 0);
}

}  // namespace
}  // namespace prefix_router::testing
