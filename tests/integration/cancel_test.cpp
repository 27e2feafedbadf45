// A client that leaves takes its request with it, in whatever phase it is.
#include <string>

#include "integration/support/router_test.hpp"

namespace prefix_router::testing {
namespace {

class ClientThatLeaves : public RouterTest {
  protected:
    // A backend that starts as `begin` does and then waits for the router to leave.
    FakeBackend::Script until_left(FakeBackend::Script begin = {}) {
        return [this, begin](BackendLine& line, const BackendRequest& request) {
            if (begin) {
                begin(line, request);
            }
            begun.open();
            EXPECT_TRUE(line.wait_until_left()) << "the backend's request was not cancelled";
            left.open();
        };
    }

    Gate begun;
    Gate left;
};

TEST_F(ClientThatLeaves, InsideTheHead) {
    FakeBackend backend;
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.send("POST /v1/chat/completions HTTP/1.1\r\nHost: r"));
    ASSERT_TRUE(wait_for_metric("connections", 1));
    client.socket().close();
    EXPECT_TRUE(wait_for_metric("connections", 0));
    EXPECT_TRUE(backend.requests().empty());
}

TEST_F(ClientThatLeaves, InsideTheBody) {
    FakeBackend backend;
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.send("POST /x HTTP/1.1\r\nHost: r\r\nContent-Length: 100000\r\n\r\nhello"));
    ASSERT_TRUE(wait_for_metric("connections", 1));
    client.socket().close();
    EXPECT_TRUE(wait_for_metric("connections", 0));
    EXPECT_TRUE(wait_for_metric("client_aborts_total", 1));
    EXPECT_TRUE(backend.requests().empty());
}

TEST_F(ClientThatLeaves, InsideAChunkedBody) {
    FakeBackend backend;
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(
        client.send("POST /x HTTP/1.1\r\nHost: r\r\nTransfer-Encoding: chunked\r\n\r\n"
                    "5\r\nhello\r\n"));
    ASSERT_TRUE(wait_for_metric("connections", 1));
    client.socket().reset();
    EXPECT_TRUE(wait_for_metric("connections", 0));
    EXPECT_TRUE(backend.requests().empty());
}

TEST_F(ClientThatLeaves, WhileTheRouterConnects) {
    FakeBackend deaf;
    config.timeouts.connect = std::chrono::hours(1);
    start({deaf.url()});
    deaf.turn_deaf();
    TestClient client(port());
    ASSERT_TRUE(client.request("/x", "hello"));
    ASSERT_TRUE(wait_for_metric("requests_in_flight", 1));
    client.socket().close();
    EXPECT_TRUE(wait_for_metric("client_aborts_total", 1));
    EXPECT_TRUE(wait_for_metric("connections", 0));
}

TEST_F(ClientThatLeaves, WhileTheRequestIsSent) {
    FakeBackend backend(
        [this](BackendLine&, const BackendRequest&) {
            begun.open();
            left.wait();  // and reads nothing meanwhile
        },
        FakeBackend::Reads::HeadsOnly);
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.request("/x", std::string(32 << 20, 'x')));  // fits into no socket buffer
    ASSERT_TRUE(begun.wait());
    client.socket().close();
    EXPECT_TRUE(wait_for_metric("client_aborts_total", 1));
    left.open();
}

TEST_F(ClientThatLeaves, BeforeTheAnswersFirstByte) {
    FakeBackend backend(until_left());
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.request("/x", "hello"));
    ASSERT_TRUE(begun.wait());
    client.socket().close();
    EXPECT_TRUE(left.wait());
    EXPECT_TRUE(wait_for_metric("client_aborts_total", 1));
}

TEST_F(ClientThatLeaves, ByEndingItsSendingHalfBeforeTheAnswer) {
    FakeBackend backend(until_left());
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.request("/x", "hello"));
    client.socket().end_sending();
    EXPECT_TRUE(left.wait());
    EXPECT_TRUE(wait_for_metric("client_aborts_total", 1));
}

TEST_F(ClientThatLeaves, InsideTheAnswersHead) {
    FakeBackend backend(until_left([](BackendLine& line, const BackendRequest&) {
        line.send("HTTP/1.1 200 OK\r\nContent-Le");
    }));
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.request("/x", "hello"));
    ASSERT_TRUE(begun.wait());
    client.socket().reset();
    EXPECT_TRUE(left.wait());
}

TEST_F(ClientThatLeaves, BetweenTwoEventsOfAStream) {
    FakeBackend backend(until_left([](BackendLine& line, const BackendRequest&) {
        line.send(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
            "Transfer-Encoding: chunked\r\n\r\n9\r\ndata: a\n\n\r\n");
    }));
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.request("/v1/chat/completions", R"({"stream": true})"));
    ASSERT_TRUE(client.read_until("data: a\n\n"));
    client.socket().close();
    EXPECT_TRUE(left.wait());
    EXPECT_TRUE(wait_for_metric("client_aborts_total", 1));
}

TEST_F(ClientThatLeaves, ByEndingItsSendingHalfInsideAStream) {
    FakeBackend backend(until_left([](BackendLine& line, const BackendRequest&) {
        line.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n");
    }));
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.request("/x", "hello"));
    ASSERT_TRUE(client.read_until("1\r\na\r\n"));
    client.socket().end_sending();
    EXPECT_TRUE(left.wait());
}

TEST_F(ClientThatLeaves, WithAPipelinedRequestBehind) {
    FakeBackend backend(until_left());
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(
        client.send("GET /1 HTTP/1.1\r\nHost: r\r\n\r\nGET /2 HTTP/1.1\r\nHost: r\r\n\r\n"));
    ASSERT_TRUE(begun.wait());
    client.socket().close();
    EXPECT_TRUE(left.wait());
    EXPECT_TRUE(wait_for_metric("connections", 0));
    EXPECT_EQ(backend.requests().size(), 1U);
}

TEST_F(ClientThatLeaves, WhileItDoesNotRead) {
    const std::string piece(1 << 20, 'x');
    FakeBackend backend([&](BackendLine& line, const BackendRequest&) {
        line.send("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n");
        std::size_t sent = 0;
        while (sent < 1024 && line.send(piece)) {
            if (++sent == 2) {
                begun.open();
            }
        }
        EXPECT_LT(sent, 200U) << "the router took what its client did not";
        left.open();
    });
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.request("/x", "hello"));
    ASSERT_TRUE(begun.wait());
    client.socket().reset();
    EXPECT_TRUE(left.wait());
}

TEST_F(ClientThatLeaves, LeavesNothingBehindForTheOthers) {
    FakeBackend backend([this](BackendLine& line, const BackendRequest& request) {
        if (request.target() == "/stuck") {
            begun.open();
            line.wait_until_left();
        } else {
            line.answer("ok");
        }
    });
    start({backend.url()});
    TestClient stuck(port());
    ASSERT_TRUE(stuck.request("/stuck"));
    ASSERT_TRUE(begun.wait());
    TestClient other(port());
    ASSERT_TRUE(other.request("/x"));
    EXPECT_EQ(other.read().body, "ok");
    stuck.socket().close();
    ASSERT_TRUE(wait_for_metric("client_aborts_total", 1));
    ASSERT_TRUE(other.request("/x"));
    EXPECT_EQ(other.read().body, "ok");
}

}  // namespace
}  // namespace prefix_router::testing
