// WebSocket: the offer is passed on, the answer decides, and then bytes go both ways.
#include <string>
#include <string_view>
#include <thread>

#include "integration/support/router_test.hpp"

namespace prefix_router::testing {
namespace {

constexpr std::string_view kOffer =
    "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: realtime\r\n";

constexpr std::string_view kSwitch =
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

class WebSocket : public RouterTest {
  protected:
    bool offer(TestClient& client, std::string_view target = "/v1/realtime?model=m") {
        return client.request(target, {}, kOffer);
    }

    // Opens a tunnel: the 101 has come.
    Answer open(TestClient& client) {
        EXPECT_TRUE(offer(client));
        return client.read_head();
    }

    Gate left;
};

TEST_F(WebSocket, PassesOfferAndAnswerAndThenBytesBothWays) {
    FakeBackend backend([](BackendLine& line, const BackendRequest&) {
        line.send(std::string(kSwitch) + "hello");  // frames may come with the head
        std::string got;
        while (line.receive(got) == ReadEnd::Data && got.find("end") == std::string::npos) {
        }
        line.send("echo " + got);
    });
    start({backend.url()});
    TestClient client(port());
    const Answer answer = open(client);
    EXPECT_EQ(answer.status(), 101U);
    EXPECT_EQ(answer.field("Upgrade"), "websocket");
    EXPECT_EQ(answer.field("Connection"), "Upgrade");
    EXPECT_EQ(answer.field("Sec-WebSocket-Accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    EXPECT_EQ(answer.field("Transfer-Encoding") + answer.field("Content-Length"), "");
    EXPECT_TRUE(client.read_until("hello"));
    EXPECT_EQ(metric("backend_in_flight"), 1);
    const std::string frames("\x81\x02GET / HTTP/1.1\r\n\r\n\0\xff", 22);
    ASSERT_TRUE(client.send(frames));
    ASSERT_TRUE(client.send("end"));
    EXPECT_TRUE(client.read_until("echo " + frames + "end"));
    const BackendRequest request = backend.requests().at(0);
    EXPECT_EQ(request.start_line, "GET /v1/realtime?model=m HTTP/1.1");
    EXPECT_EQ(request.field("Upgrade"), "websocket");
    EXPECT_EQ(request.field("Connection"), "Upgrade");
    EXPECT_EQ(request.field("Sec-WebSocket-Key"), "dGhlIHNhbXBsZSBub25jZQ==");
    EXPECT_EQ(request.field("Sec-WebSocket-Protocol"), "realtime");
}

TEST_F(WebSocket, PassesARefusalOnAndKeepsTheConnection) {
    FakeBackend backend([](BackendLine& line, const BackendRequest& request) {
        if (request.field("Upgrade").empty()) {
            line.answer("ok");
        } else {
            line.answer("not yours", "403 Forbidden");
        }
    });
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(offer(client));
    const Answer answer = client.read();
    EXPECT_EQ(answer.status(), 403U);
    EXPECT_EQ(answer.body, "not yours");
    ASSERT_TRUE(client.request("/x"));
    EXPECT_EQ(client.read().body, "ok");
}

TEST_F(WebSocket, IsNotSwitchedToWithoutAnOffer) {
    FakeBackend backend([](BackendLine& line, const BackendRequest&) { line.send(kSwitch); });
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.request("/x"));
    EXPECT_EQ(client.read().status(), 502U);
    ASSERT_TRUE(client.send("GET /x HTTP/1.0\r\nHost: r\r\n" + std::string(kOffer) + "\r\n"));
    EXPECT_EQ(client.read().status(), 502U);
}

TEST_F(WebSocket, EndsAtTheBackendWhenTheClientLeaves) {
    for (const bool is_reset : {false, true}) {
        Gate gone;
        FakeBackend backend([&gone](BackendLine& line, const BackendRequest&) {
            line.send(kSwitch);
            EXPECT_TRUE(line.wait_until_left());
            gone.open();
        });
        config.backends.clear();
        start({backend.url()});
        TestClient client(port());
        EXPECT_EQ(open(client).status(), 101U);
        if (is_reset) {
            client.socket().reset();
        } else {
            client.socket().end_sending();
        }
        EXPECT_TRUE(gone.wait());
        EXPECT_TRUE(wait_for_metric("requests_in_flight", 0));
    }
}

TEST_F(WebSocket, PassesTheBackendsLastBytesOnBeforeItsEnd) {
    const std::string last(1 << 20, 'z');
    FakeBackend backend([&last](BackendLine& line, const BackendRequest&) {
        line.send(std::string(kSwitch) + last);
        line.end();
    });
    start({backend.url()});
    TestClient client(port());
    EXPECT_EQ(open(client).status(), 101U);
    ASSERT_TRUE(client.send("unread"));
    EXPECT_TRUE(client.read_until(last));
    EXPECT_EQ(client.wait_for_end(), ReadEnd::Ended);
    EXPECT_EQ(metric("backend_failures_total"), 0);
}

TEST_F(WebSocket, BrokenByItsBackendIsAFailureOfIt) {
    Gate opened;
    FakeBackend backend([&opened](BackendLine& line, const BackendRequest&) {
        line.send(kSwitch);
        EXPECT_TRUE(opened.wait());
        line.reset();
    });
    start({backend.url()});
    TestClient client(port());
    EXPECT_EQ(open(client).status(), 101U);
    opened.open();
    EXPECT_EQ(client.wait_for_end(), ReadEnd::Reset);
    EXPECT_TRUE(wait_for_metric("backend_failures_total", 1));
}

TEST_F(WebSocket, HoldsASenderBackWhoseReceiverDoesNotRead) {
    const std::string piece(1 << 20, 'x');
    constexpr std::size_t kPieces = 200;
    constexpr std::chrono::milliseconds kStuck{500};
    Gate tried;
    Gate tried_too;
    FakeBackend backend([&](BackendLine& line, const BackendRequest&) {
        line.send(kSwitch);
        EXPECT_LT(line.send_until_stuck(piece, kPieces, kStuck), kPieces << 20)
            << "the router took what its client did not";
        tried.open();
        EXPECT_TRUE(tried_too.wait());
        EXPECT_TRUE(line.wait_until_left());
        left.open();
    });
    start({backend.url()});
    TestClient client(port());
    EXPECT_EQ(open(client).status(), 101U);
    EXPECT_TRUE(tried.wait());
    EXPECT_LT(client.socket().send_until_stuck(piece, kPieces, kStuck), kPieces << 20)
        << "the router took what its backend did not";
    tried_too.open();
    client.socket().reset();
    EXPECT_TRUE(left.wait());
}

TEST_F(WebSocket, EndsAfterSilence) {
    config.timeouts.idle = std::chrono::milliseconds(300);
    FakeBackend backend([this](BackendLine& line, const BackendRequest&) {
        line.send(kSwitch);
        EXPECT_TRUE(line.wait_until_left());
        left.open();
    });
    start({backend.url()});
    TestClient client(port());
    EXPECT_EQ(open(client).status(), 101U);
    EXPECT_EQ(client.wait_for_end(), ReadEnd::Ended);
    EXPECT_TRUE(left.wait());
    EXPECT_EQ(metric("backend_failures_total"), 0);
}

TEST_F(WebSocket, EndsWithADrain) {
    FakeBackend backend([this](BackendLine& line, const BackendRequest&) {
        line.send(kSwitch);
        EXPECT_TRUE(line.wait_until_left());
        left.open();
    });
    start({backend.url()});
    TestClient client(port());
    EXPECT_EQ(open(client).status(), 101U);
    std::thread drainer([this] { router().drain(); });
    EXPECT_EQ(client.wait_for_end(), ReadEnd::Ended);
    EXPECT_TRUE(left.wait());
    client.socket().close();
    drainer.join();
}

}  // namespace
}  // namespace prefix_router::testing
