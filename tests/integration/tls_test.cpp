// TLS with clients: what passes, what is refused, and how connections end.
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "integration/support/tls_router_test.hpp"

namespace prefix_router::testing {
namespace {

class Tls : public TlsRouterTest {};

TEST_F(Tls, ServesRequestsAndTellsTheBackendOfIt) {
    FakeBackend backend;
    start({backend.url()});
    TestClient client = connect();
    ASSERT_TRUE(client.request("/v1/models/x"));
    EXPECT_EQ(client.read().body, "ok");
    EXPECT_EQ(backend.requests().at(0).field("X-Forwarded-Proto"), "https");
    EXPECT_STREQ(SSL_get_version(client.socket().tls()), "TLSv1.3");
    ASSERT_TRUE(client.request("/again"));
    EXPECT_EQ(client.read().body, "ok");
    EXPECT_TRUE(wait_for_metric("tls_handshakes_total", 1));
    EXPECT_GT(metric("tls_certificate_expiry_timestamp_seconds"), 1e9);
}

TEST_F(Tls, PassesBodiesByteForByteInPiecesOfEverySize) {
    const std::string up = noise(3'000'000);
    const std::string down = noise(3'000'000, 7);
    FakeBackend backend([&](BackendLine& line, const BackendRequest& request) {
        EXPECT_TRUE(request.body == up);
        line.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(down.size()) + "\r\n\r\n");
        for (std::size_t at = 0, size = 1; at < down.size(); at += size, size = size * 3 % 70'001) {
            line.send(std::string_view(down).substr(at, size));
        }
    });
    start({backend.url()});
    TestClient client = connect();
    client.send("POST /upload HTTP/1.1\r\nHost: r\r\nContent-Length: " + std::to_string(up.size()) +
                "\r\n\r\n");
    for (std::size_t at = 0, size = 1; at < up.size(); at += size, size = size * 5 % 70'001) {
        ASSERT_TRUE(client.send(std::string_view(up).substr(at, size)));
    }
    EXPECT_TRUE(client.read().body == down);
}

TEST_F(Tls, PassesEachPieceOnBeforeTheNextIsSent) {
    std::vector<std::unique_ptr<Gate>> gates;
    for (int i = 0; i < 20; ++i) {
        gates.push_back(std::make_unique<Gate>());
    }
    FakeBackend backend([&](BackendLine& line, const BackendRequest&) {
        line.send(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
            "Transfer-Encoding: chunked\r\n\r\n");
        for (std::size_t i = 0; i < gates.size(); ++i) {
            const std::string event = "data: " + std::to_string(i) + "\n\n";
            line.send(std::string(event.size() < 10 ? "9" : "A") + "\r\n" + event + "\r\n");
            if (!gates[i]->wait()) {
                return;
            }
        }
        line.send("0\r\n\r\n");
    });
    start({backend.url()});
    TestClient client = connect();
    client.request("/stream");
    EXPECT_EQ(client.read_head().status(), 200U);
    for (std::size_t i = 0; i < gates.size(); ++i) {
        ASSERT_TRUE(client.read_until("data: " + std::to_string(i) + "\n\n\r\n")) << i;
        gates[i]->open();
    }
    EXPECT_TRUE(client.read_until("0\r\n\r\n"));
}

TEST_F(Tls, AnswersRequestsThatComeTogether) {
    FakeBackend backend([](BackendLine& line, const BackendRequest& request) {
        line.answer(std::string(request.target()) + " " + std::to_string(request.body.size()));
    });
    start({backend.url()});
    TestClient client = connect();
    // More than one record, and one that holds the end of one request and the head of the next.
    std::string requests;
    for (int i = 0; i < 9; ++i) {
        requests += "POST /" + std::to_string(i) +
                    " HTTP/1.1\r\nHost: r\r\nContent-Length: 15000\r\n\r\n" +
                    std::string(15'000, 'x');
    }
    std::thread sender([&] { client.send(requests); });
    sender.join();
    for (int i = 0; i < 9; ++i) {
        EXPECT_EQ(client.read().body, "/" + std::to_string(i) + " 15000");
    }
}

TEST_F(Tls, SlowReadersStopTheReadingOfTheirBackend) {
    constexpr std::size_t kPiece = 1 << 20;
    constexpr std::size_t kPieces = 64;
    const std::string piece = noise(kPiece);
    std::size_t taken = 0;
    Gate stuck;
    FakeBackend backend([&](BackendLine& line, const BackendRequest&) {
        line.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kPiece * kPieces) +
                  "\r\n\r\n");
        std::string rest(piece);
        taken = line.send_until_stuck(piece, kPieces, std::chrono::milliseconds(300));
        stuck.open();
        line.send(std::string_view(piece).substr(taken % kPiece));
        for (std::size_t sent = taken / kPiece + 1; sent < kPieces; ++sent) {
            line.send(piece);
        }
    });
    start({backend.url()});
    TestClient client = connect();
    client.request("/big");
    ASSERT_TRUE(stuck.wait());
    EXPECT_LT(taken, kPiece * kPieces / 2);
    const Answer answer = client.read();
    ASSERT_EQ(answer.body.size(), kPiece * kPieces);
    for (std::size_t i = 0; i < kPieces; ++i) {
        ASSERT_TRUE(std::string_view(answer.body).substr(i * kPiece, kPiece) == piece) << i;
    }
}

TEST_F(Tls, AWholeAnswerOfUnknownLengthEndsInOrderAndACutOneDoesNot) {
    FakeBackend backend([](BackendLine& line, const BackendRequest& request) {
        line.send("HTTP/1.1 200 OK\r\n\r\n" + noise(200'000));
        request.target() == "/cut" ? line.reset() : line.end();
    });
    start({backend.url()});
    for (const std::string_view target : {"/whole", "/cut"}) {
        TestClient client = connect();
        client.send("GET " + std::string(target) + " HTTP/1.0\r\n\r\n");
        EXPECT_EQ(client.read_head().status(), 200U);
        const ReadEnd end = client.wait_for_end();
        if (target == "/whole") {
            EXPECT_EQ(end, ReadEnd::Ended);
        } else {
            EXPECT_TRUE(end == ReadEnd::Cut || end == ReadEnd::Reset);
        }
    }
}

TEST_F(Tls, ASlowReaderGetsTheEndOfAnAnswerOfUnknownLengthToo) {
    const std::string body = noise(20'000'000);
    FakeBackend backend([&](BackendLine& line, const BackendRequest&) {
        line.send("HTTP/1.1 200 OK\r\n\r\n" + body);
        line.end();
    });
    start({backend.url()});
    TestClient client = connect();
    client.send("GET / HTTP/1.0\r\n\r\n");
    ASSERT_TRUE(backend.wait_for_requests(1));
    Answer answer = client.read();
    EXPECT_TRUE(answer.body == body);
    EXPECT_EQ(answer.end, ReadEnd::Ended);
}

enum class Leaving { WithFin, WithMessageOnly, WithReset };

class TlsClientLeaves : public Tls, public ::testing::WithParamInterface<Leaving> {};

TEST_P(TlsClientLeaves, WhileItsAnswerIsComputed) {
    Gate left;
    FakeBackend backend([&](BackendLine& line, const BackendRequest&) {
        EXPECT_TRUE(line.wait_until_left());
        left.open();
    });
    start({backend.url()});
    TestClient client = connect();
    client.request("/v1/completions", R"({"prompt": "long"})");
    ASSERT_TRUE(backend.wait_for_requests(1));
    switch (GetParam()) {
        case Leaving::WithFin:
            client.socket().close();
            break;
        case Leaving::WithMessageOnly:
            client.socket().say_end();
            break;
        case Leaving::WithReset:
            client.socket().reset();
            break;
    }
    EXPECT_TRUE(left.wait());
    EXPECT_TRUE(wait_for_metric("client_aborts_total", 1));
}

INSTANTIATE_TEST_SUITE_P(Ways, TlsClientLeaves,
                         ::testing::Values(Leaving::WithFin, Leaving::WithMessageOnly,
                                           Leaving::WithReset));

TEST_F(Tls, PassesWebSocketsThrough) {
    FakeBackend backend([](BackendLine& line, const BackendRequest&) {
        line.send(
            "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
            "Upgrade: websocket\r\n\r\nhello");
        std::string got;
        while (line.receive(got) == ReadEnd::Data && !got.ends_with("end")) {
        }
        line.send(got);
    });
    start({backend.url()});
    TestClient client = connect();
    client.request("/ws", {}, "Connection: Upgrade\r\nUpgrade: websocket\r\n");
    EXPECT_EQ(client.read_head().status(), 101U);
    EXPECT_TRUE(client.read_until("hello"));
    const std::string frames = noise(500'000) + "end";
    ASSERT_TRUE(client.send(frames));
    EXPECT_TRUE(client.read_until(frames));
}

TEST_F(Tls, ResumesSessions) {
    FakeBackend backend;
    start({backend.url()});
    TestClient first = connect();
    first.request("/");
    first.read();
    SSL_SESSION* const session = SSL_get1_session(first.socket().tls());
    Socket socket = Socket::connect_to(port());
    std::shared_ptr<SSL_CTX> context = client_context(authority.file());
    SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
    ASSERT_TRUE(socket.secure_as_client(context.get(), "localhost", session));
    SSL_SESSION_free(session);
    EXPECT_EQ(SSL_session_reused(socket.tls()), 1);
    TestClient second(std::move(socket));
    second.request("/");
    EXPECT_EQ(second.read().body, "ok");
    EXPECT_TRUE(wait_for_metric("tls_handshakes_total", 1, "resumed"));
}

TEST_F(Tls, SurvivesAThousandHandshakesWhateverBecomesOfThem) {
    FakeBackend backend;
    start({backend.url()});
    for (int i = 0; i < 1000; ++i) {
        TestClient client = connect();
        ASSERT_TRUE(client.socket().is_open()) << i;
        if (i % 4 == 0) {
            client.request("/");
            ASSERT_EQ(client.read().body, "ok");
        } else if (i % 4 == 1) {
            client.socket().reset();
        } else if (i % 4 == 2) {
            client.send("GET / HTTP/1.1\r\nHo");
        }
    }
    EXPECT_TRUE(wait_for_metric("tls_handshakes_total", 1000));
    EXPECT_TRUE(wait_for_metric("connections", 0));
}

}  // namespace
}  // namespace prefix_router::testing
