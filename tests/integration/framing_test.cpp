// Answers reach the client as they are: whole, or visibly not.
#include <string>
#include <string_view>

#include "integration/support/router_test.hpp"

namespace prefix_router::testing {
namespace {

using AnswerFraming = RouterTest;

constexpr std::string_view kOldRequest = "GET /x HTTP/1.0\r\nHost: r\r\n\r\n";

// A backend that sends the same bytes to each request, then ends or breaks the connection or not.
enum class Then : std::uint8_t { KeepOpen, End, Reset };
FakeBackend::Script sending(std::string bytes, Then then = Then::KeepOpen) {
    return [bytes = std::move(bytes), then](BackendLine& line, const BackendRequest&) {
        line.send(bytes);
        if (then == Then::End) {
            line.end();
        } else if (then == Then::Reset) {
            line.reset();
        }
    };
}

TEST_F(AnswerFraming, HeadAnd204And304HaveNoBodyAndKeepBothConnectionsInStep) {
    FakeBackend backend([](BackendLine& line, const BackendRequest& request) {
        if (request.method() == "HEAD") {
            line.send("HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n");
        } else if (request.target() == "/204") {
            line.send("HTTP/1.1 204 No Content\r\n\r\n");
        } else if (request.target() == "/304") {
            line.send("HTTP/1.1 304 Not Modified\r\nContent-Length: 77\r\n\r\n");
        } else {
            line.answer("ok");
        }
    });
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.send("HEAD /x HTTP/1.1\r\nHost: r\r\n\r\n"));
    const Answer head = client.read(Expecting::NoBody);
    EXPECT_EQ(head.status(), 200U);
    EXPECT_EQ(head.field("Content-Length"), "1234");
    ASSERT_TRUE(client.request("/204"));
    const Answer no_content = client.read();
    EXPECT_EQ(no_content.status(), 204U);
    EXPECT_EQ(no_content.field("Transfer-Encoding"), "");
    ASSERT_TRUE(client.request("/304"));
    EXPECT_EQ(client.read().status(), 304U);
    ASSERT_TRUE(client.request("/x"));
    EXPECT_EQ(client.read().body, "ok");
    EXPECT_EQ(backend.requests().back().connection, 0U);
}

TEST_F(AnswerFraming, ABodyThatEndsWithTheConnectionIsChunkedForAKeptClient) {
    for (const char* version : {"HTTP/1.0", "HTTP/1.1"}) {
        FakeBackend backend(
            sending(std::string(version) + " 200 OK\r\nContent-Type: a/b\r\n\r\nhello", Then::End));
        config.backends.clear();
        start({backend.url()});
        TestClient client(port());
        for (int round = 0; round < 2; ++round) {
            ASSERT_TRUE(client.request("/x"));
            const Answer answer = client.read();
            EXPECT_TRUE(answer.is_complete);
            EXPECT_EQ(answer.framing, BodyFraming::Chunked);
            EXPECT_EQ(answer.body, "hello");
        }
        EXPECT_EQ(backend.requests().back().connection, 1U) << "a closed connection was pooled";
    }
}

TEST_F(AnswerFraming, ABodyThatEndsWithAResetIsVisiblyIncomplete) {
    Gate sent;
    FakeBackend backend([&](BackendLine& line, const BackendRequest&) {
        line.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello");
        sent.wait();
        line.reset();
    });
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.request("/x"));
    ASSERT_TRUE(client.read_until("hello"));
    sent.open();
    EXPECT_FALSE(client.read().is_complete);
}

TEST_F(AnswerFraming, TruncatedBodiesAreVisiblyIncomplete) {
    for (const std::string_view head :
         {"Content-Length: 100\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
          "Transfer-Encoding: chunked\r\n\r\n64\r\nhello"}) {
        for (const Then then : {Then::End, Then::Reset}) {
            FakeBackend backend(sending("HTTP/1.1 200 OK\r\n" + std::string(head), then));
            config.backends.clear();
            start({backend.url()});
            TestClient client(port());
            ASSERT_TRUE(client.request("/x"));
            const Answer answer = client.read();
            EXPECT_FALSE(answer.is_complete) << head;
            EXPECT_NE(answer.end, ReadEnd::TimedOut) << head;
            EXPECT_EQ(backend.requests().size(), 1U);
        }
    }
}

TEST_F(AnswerFraming, ATruncatedBodyIsIncompleteForAnOldClientToo) {
    FakeBackend backend(
        sending("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", Then::End));
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.send(kOldRequest));
    std::string received;
    // A FIN would be the end of a complete body to it.
    EXPECT_EQ(client.socket().receive_to_end(received), ReadEnd::Reset);
}

TEST_F(AnswerFraming, AnOldClientGetsThePayloadWithoutChunks) {
    FakeBackend backend(
        sending("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                "5\r\nhello\r\n6;x\r\n world\r\n0\r\nT: 1\r\n\r\n"));
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.send(kOldRequest));
    const Answer answer = client.read();
    EXPECT_EQ(answer.framing, BodyFraming::UntilClose);
    EXPECT_TRUE(answer.is_complete);
    EXPECT_EQ(answer.body, "hello world");
    EXPECT_EQ(answer.field("Connection"), "close");
}

TEST_F(AnswerFraming, AnOldClientGetsSizedBodiesAndBodiesUntilClose) {
    for (const std::string_view head : {"Content-Length: 5\r\n", ""}) {
        FakeBackend backend(
            sending("HTTP/1.1 200 OK\r\n" + std::string(head) + "\r\nhello", Then::End));
        config.backends.clear();
        start({backend.url()});
        TestClient client(port());
        ASSERT_TRUE(client.send(kOldRequest));
        const Answer answer = client.read();
        EXPECT_TRUE(answer.is_complete);
        EXPECT_EQ(answer.body, "hello");
        EXPECT_EQ(client.wait_for_end(), ReadEnd::Ended);
    }
}

TEST_F(AnswerFraming, ChunksPassByteForByte) {
    const std::string body =
        "5;ext=\"1\"\r\nhello\r\n00B\r\n, \r\nworld!!\r\n0\r\nX-Sum: 1\r\n\r\n";
    FakeBackend backend(sending("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body));
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.request("/x", {}, "Connection: close\r\n"));
    std::string received;
    EXPECT_EQ(client.socket().receive_to_end(received), ReadEnd::Ended);
    EXPECT_EQ(received.substr(received.find("\r\n\r\n") + 4), body);
}

TEST_F(AnswerFraming, AnswersMayComeByteByByte) {
    const std::string bytes =
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nX-A: b\r\n"
        "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n";
    FakeBackend backend([&bytes](BackendLine& line, const BackendRequest&) {
        for (const char& byte : bytes) {
            line.send(std::string_view(&byte, 1));
        }
    });
    start({backend.url()});
    TestClient client(port());
    for (int round = 0; round < 3; ++round) {
        ASSERT_TRUE(client.request("/x"));
        const Answer answer = client.read();
        EXPECT_TRUE(answer.is_complete);
        EXPECT_EQ(answer.body, "hello world");
        EXPECT_EQ(answer.field("X-A"), "b");
        EXPECT_EQ(answer.interims.size(), 1U);
    }
    EXPECT_EQ(backend.requests().back().connection, 0U);
}

TEST_F(AnswerFraming, InterimAnswersPassToNewClientsAndContinueToNobody) {
    FakeBackend backend(
        sending("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n"
                "Link: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n"
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.request("/x"));
    const Answer answer = client.read();
    EXPECT_EQ(answer.body, "ok");
    ASSERT_EQ(answer.interims.size(), 2U);
    EXPECT_TRUE(answer.interims[0].starts_with("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n"));
    EXPECT_TRUE(answer.interims[1].starts_with("HTTP/1.1 102 "));
    TestClient old(port());
    ASSERT_TRUE(old.send(kOldRequest));
    const Answer plain = old.read();
    EXPECT_TRUE(plain.interims.empty());
    EXPECT_EQ(plain.body, "ok");
}

TEST_F(AnswerFraming, BothFramingsAreReadAsChunkedAndTheConnectionIsNotUsedAgain) {
    FakeBackend backend(
        sending("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n"
                "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"));
    start({backend.url()});
    TestClient client(port());
    for (std::size_t round = 0; round < 2; ++round) {
        ASSERT_TRUE(client.request("/x"));
        const Answer answer = client.read();
        EXPECT_EQ(answer.body, "hello");
        EXPECT_EQ(answer.field("Content-Length"), "");
        EXPECT_EQ(backend.requests().back().connection, round);
    }
}

TEST_F(AnswerFraming, SurplusBytesAfterAnAnswerPoisonTheConnection) {
    for (const std::string_view head : {"Content-Length: 2\r\n\r\nok",
                                        "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"}) {
        FakeBackend backend(sending("HTTP/1.1 200 OK\r\n" + std::string(head) +
                                    "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"));
        config.backends.clear();
        start({backend.url()});
        TestClient client(port());
        for (std::size_t round = 0; round < 3; ++round) {
            ASSERT_TRUE(client.request("/x"));
            EXPECT_EQ(client.read().body, "ok") << head;
            EXPECT_EQ(backend.requests().back().connection, round) << head;
        }
    }
}

TEST_F(AnswerFraming, NonsenseBecomesABadGatewayAndTheClientStays) {
    for (const std::string& nonsense :
         {std::string("SSH-2.0-x\r\n"), std::string(10'000, '\xd5'),
          std::string("HTTP/1.1 2x0 OK\r\n\r\n"), std::string("HTTP/1.1 99 Low\r\n\r\n"),
          std::string("HTTP/1.1 200 OK\r\nBad Name: 1\r\n\r\n"),
          std::string("HTTP/1.1 101 Switching Protocols\r\n\r\n"),
          "HTTP/1.1 200 OK\r\nA: " + std::string(100'000, 'a')}) {
        FakeBackend backend([&nonsense](BackendLine& line, const BackendRequest& request) {
            if (request.target() == "/x") {
                line.send(nonsense);
                EXPECT_TRUE(line.wait_until_left());
            } else {
                line.answer("ok");
            }
        });
        config.backends.clear();
        start({backend.url()});
        TestClient client(port());
        ASSERT_TRUE(client.request("/x"));
        const Answer answer = client.read();
        EXPECT_EQ(answer.status(), 502U) << nonsense.substr(0, 60);
        EXPECT_NE(answer.body.find(R"("code": "bad_response")"), std::string::npos) << answer.body;
        ASSERT_TRUE(client.request("/fine"));
        EXPECT_EQ(client.read().body, "ok") << nonsense.substr(0, 60);
    }
}

TEST_F(AnswerFraming, BrokenChunksCutTheAnswer) {
    FakeBackend backend(
        sending("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                "5\r\nhello\r\n-1\r\nx\r\n0\r\n\r\n"));
    start({backend.url()});
    TestClient client(port());
    ASSERT_TRUE(client.request("/x"));
    ASSERT_EQ(client.read_head().status(), 200U);
    EXPECT_NE(client.wait_for_end(), ReadEnd::TimedOut);
}

TEST_F(AnswerFraming, BigBodiesPassBothWays) {
    const std::string big = [] {
        std::string text(24 << 20, ' ');
        for (std::size_t i = 0; i < text.size(); ++i) {
            text[i] = static_cast<char>('!' + i * 2654435761U % 90);
        }
        return text;
    }();
    FakeBackend backend(
        [](BackendLine& line, const BackendRequest& request) { line.answer(request.body); });
    start({backend.url()});
    TestClient client(port());
    for (int round = 0; round < 2; ++round) {
        ASSERT_TRUE(client.request("/v1/audio/transcriptions", big));
        const Answer answer = client.read();
        EXPECT_TRUE(answer.is_complete);
        EXPECT_TRUE(answer.body == big);
    }
    EXPECT_TRUE(backend.requests().back().body == big);
}

}  // namespace
}  // namespace prefix_router::testing
