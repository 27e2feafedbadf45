// Answers that come in pieces, compressed, or as errors: the client gets them as they were sent.
#include <string>
#include <string_view>
#include <vector>

#include "integration/support/router_test.hpp"

namespace prefix_router::testing {
namespace {

constexpr std::string_view kSseHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-Accel-Buffering: no\r\n"
    "Cache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n";

std::string chunk(std::string_view payload) {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string size;
    for (std::size_t left = payload.size(); left > 0; left /= 16) {
        size.insert(size.begin(), kHex[left % 16]);
    }
    return size + "\r\n" + std::string(payload) + "\r\n";
}

class Streamed : public RouterTest {
  protected:
    static constexpr std::string_view kAsk =
        R"({"model": "m", "stream": true, "messages": [{"role": "user", "content": "hi"}]})";
};

TEST_F(Streamed, EachPieceIsPassedOnBeforeTheNextIsSent) {
    // Cut inside a character and inside a line; comments, CRLF and pings among them.
    const std::vector<std::string> pieces{": keep-alive\n\n", "event: ping\r\ndata: {}\r\n\r\n",
                                          "data: {\"x\": \"\xe2\x82", "\xac\"}\n", "\n"};
    std::vector<Gate> seen(pieces.size());
    FakeBackend backend([&](BackendLine& line, const BackendRequest&) {
        line.send(kSseHead);
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            line.send(chunk(pieces[i]));
            EXPECT_TRUE(seen[i].wait()) << i;
        }
        line.send("0\r\n\r\n");
    });
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.request("/v1/chat/completions", kAsk));
    std::string all;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        all += chunk(pieces[i]);
        EXPECT_TRUE(client.read_until(all)) << i;
        seen[i].open();
    }
    const Answer answer = client.read();
    EXPECT_TRUE(answer.is_complete);
    EXPECT_EQ(answer.field("Content-Type"), "text/event-stream");
    EXPECT_EQ(answer.field("X-Accel-Buffering"), "no");
}

TEST_F(Streamed, EndsWhereItsBodyEndsWhateverTheLastEventIs) {
    struct Case {
        std::string_view path;
        std::string_view type;
        std::string_view body;
    };
    for (const Case& row : {
             Case{"/v1/chat/completions", "text/event-stream",
                  "data: {\"choices\": [], \"usage\": {\"prompt_tokens\": 9, "
                  "\"prompt_tokens_details\": {\"cached_tokens\": 0}}}\n\ndata: [DONE]\n\n"},
             Case{"/v1/messages", "text/event-stream; charset=utf-8",
                  "event: message_stop\ndata: {\"type\": \"message_stop\"}\n\n"},
             Case{"/v1/responses", "text/event-stream",
                  "event: response.completed\ndata: {\"type\": \"response.completed\"}\n\n"},
             Case{"/api/chat", "application/x-ndjson", "{\"done\": false}\n{\"done\": true}\n"},
             Case{"/v1/chat/completions", "text/event-stream", ""},
         }) {
        FakeBackend backend([&row](BackendLine& line, const BackendRequest&) {
            line.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: " +
                      std::string(row.type) + "\r\n\r\n");
            for (const char& byte : row.body) {
                line.send(chunk({&byte, 1}));
            }
            line.send("0\r\n\r\n");
        });
        config.backends.clear();
        start({backend.url()});
        TestClient client(port());
        ASSERT_TRUE(client.request(row.path, kAsk));
        const Answer answer = client.read();
        EXPECT_TRUE(answer.is_complete) << row.path;
        EXPECT_EQ(answer.body, row.body) << row.path;
        EXPECT_EQ(answer.field("Content-Type"), row.type);
    }
}

TEST_F(Streamed, RequestsGetErrorsAsTheBackendGivesThem) {
    for (const std::string_view status : {"400 Bad Request", "500 Internal Server Error"}) {
        FakeBackend backend([status](BackendLine& line, const BackendRequest&) {
            line.answer(R"({"error": "x"})", status, "Content-Type: application/json\r\n");
        });
        config.backends.clear();
        start({backend.url()});
        TestClient client(port());
        ASSERT_TRUE(client.request("/v1/chat/completions", kAsk));
        const Answer answer = client.read();
        EXPECT_EQ(answer.start_line, "HTTP/1.1 " + std::string(status));
        EXPECT_EQ(answer.body, R"({"error": "x"})");
        EXPECT_EQ(answer.field("Content-Type"), "application/json");
        EXPECT_EQ(backend.requests().size(), 1U);
    }
}

TEST_F(Streamed, ErrorsAreNoFirstTokensAndTeachNoCapacity) {
    FakeBackend backend([](BackendLine& line, const BackendRequest&) {
        line.answer(R"({"error": {"message": "the prompt is too long"}})", "400 Bad Request",
                    "Content-Type: application/json\r\n");
    });
    start({backend.url()});
    const double believed = metric("backend_capacity_tokens");
    const auto bytes = static_cast<std::size_t>(8 * believed);  // twice as many tokens, about
    TestClient client(port());
    ASSERT_TRUE(client.request("/v1/chat/completions",
                               R"({"model": "m", "messages": [{"role": "user", "content": ")" +
                                   std::string(bytes, 'x') + R"("}]})"));
    EXPECT_EQ(client.read().status(), 400U);
    ASSERT_TRUE(wait_for_metric("requests_in_flight", 0));
    EXPECT_EQ(metric("time_to_first_token_seconds_count"), 0);
    EXPECT_EQ(metric("backend_capacity_tokens"), believed);
}

TEST_F(Streamed, CompressedAnswersPassUnread) {
    const std::string packed("\x1f\x8b\x08\0\0\0\0\0{\"error\": \xff", 19);
    for (const std::string_view status : {"200 OK", "400 Bad Request"}) {
        for (const std::string_view type : {"application/json", "text/event-stream"}) {
            FakeBackend backend([&](BackendLine& line, const BackendRequest&) {
                line.answer(
                    packed, status,
                    "Content-Encoding: gzip\r\nContent-Type: " + std::string(type) + "\r\n");
            });
            config.backends.clear();
            start({backend.url()});
            TestClient client(port());
            ASSERT_TRUE(client.request("/v1/chat/completions", kAsk,
                                       "Accept-Encoding: gzip, br, zstd\r\n"));
            const Answer answer = client.read();
            EXPECT_EQ(answer.body, packed);
            EXPECT_EQ(answer.field("Content-Encoding"), "gzip");
            EXPECT_EQ(backend.requests().at(0).field("Accept-Encoding"), "gzip, br, zstd");
            ASSERT_TRUE(wait_for_metric("requests_in_flight", 0));
            EXPECT_EQ(metric("error_events_total"), 0);
        }
    }
}

TEST_F(Streamed, TheTailIsNotLostWhenTheBackendClosesTheMomentItIsDone) {
    const std::string event = "data: " + std::string(2 << 20, 'x') + "\n\n";
    FakeBackend backend([&event](BackendLine& line, const BackendRequest&) {
        line.send(std::string(kSseHead) + chunk(event) + chunk("data: [DONE]\n\n") + "0\r\n\r\n");
        line.end();
    });
    start({backend.url()});
    for (int i = 0; i < 50; ++i) {
        TestClient client(port());
        ASSERT_TRUE(client.request("/v1/chat/completions", kAsk));
        const Answer answer = client.read();
        ASSERT_TRUE(answer.is_complete) << i;
        ASSERT_EQ(answer.body.size(), event.size() + 14) << i;
    }
}

TEST_F(Streamed, TheTailIsNotLostWhenTheClientHasSentMoreThanIsRead) {
    const std::string body(400'000, 'x');  // fits into the kernel's buffers
    Gate sent_more;
    FakeBackend backend([&](BackendLine& line, const BackendRequest&) {
        line.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n");
        EXPECT_TRUE(sent_more.wait());
        line.send(body);
    });
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.request("/x", "hello", "Connection: close\r\n"));
    ASSERT_TRUE(client.read_until("\r\n\r\n"));
    ASSERT_TRUE(client.send("\r\n"));  // some clients end their requests so
    ASSERT_TRUE(wait_for_metric("connections", 1));
    sent_more.open();
    ASSERT_TRUE(wait_for_metric("connections", 0)) << "until the router has closed";
    const Answer answer = client.read();
    EXPECT_TRUE(answer.is_complete);
    EXPECT_EQ(answer.body.size(), body.size());
}

TEST_F(Streamed, HintsForRetriesPassUnchanged) {
    const std::string hints =
        "Retry-After: 7\r\nretry-after-ms: 1500\r\nx-should-retry: false\r\n"
        "x-ratelimit-remaining-requests: 0\r\n";
    FakeBackend backend([&hints](BackendLine& line, const BackendRequest&) {
        line.answer("slow down", "429 Too Many Requests", hints);
    });
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.request("/v1/chat/completions", kAsk));
    const Answer answer = client.read();
    EXPECT_EQ(answer.status(), 429U);
    EXPECT_NE(answer.head.find(hints), std::string::npos) << answer.head;
}

TEST_F(Streamed, ARedirectToTheBackendLeadsBackHere) {
    FakeBackend backend([](BackendLine& line, const BackendRequest& request) {
        line.answer("", "307 Temporary Redirect",
                    "Location: http://" + request.field("Host") + "/v1/models?x\r\n");
    });
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.request("/v1/models/?x"));
    const Answer answer = client.read();
    EXPECT_EQ(answer.status(), 307U);
    EXPECT_EQ(answer.field("Location"), "/v1/models?x");
    EXPECT_EQ(answer.head.find("127.0.0.1"), std::string::npos) << answer.head;
}

}  // namespace
}  // namespace prefix_router::testing
