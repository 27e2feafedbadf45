#include "prefix_router/http/response_head.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/http/feeding.hpp"

namespace prefix_router::http {
namespace {

using std::string_literals::operator""s;

constexpr Asker kHttp10{.version = Version::Http10, .keeps_alive = false};

std::string rewritten(std::string_view bytes, const Asker& asker = {}) {
    const ParsedResponse parsed = parse_response(bytes, asker);
    EXPECT_EQ(parsed.size, bytes.size()) << bytes;
    return std::string(parsed.head.text());
}

TEST(ResponseHead, PassesEndToEndFieldsInOrderAndMultiplicity) {
    const std::string bytes =
        "HTTP/1.1 200 Fine, thanks\r\nServer: uvicorn\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n"
        "Content-Encoding: gzip\r\nretry-after-ms: 1500\r\nContent-Length: 5\r\n\r\n";
    EXPECT_EQ(rewritten(bytes), bytes);
}

TEST(ResponseHead, DropsHopByHopFieldsAndKeepsTheClientOpen) {
    const std::string bytes =
        "HTTP/1.1 200 OK\r\nX-Resp-Hop: 1\r\nConnection: close, X-Resp-Hop\r\n"
        "Keep-Alive: timeout=5\r\nProxy-Authenticate: Basic\r\nUpgrade: h2c\r\nA: 1\r\n"
        "Content-Length: 5\r\n\r\n";
    EXPECT_EQ(rewritten(bytes), "HTTP/1.1 200 OK\r\nA: 1\r\nContent-Length: 5\r\n\r\n");
    const ParsedResponse parsed = parse_response(bytes);
    EXPECT_FALSE(parsed.head.backend_keeps_alive());
    EXPECT_TRUE(parsed.head.client_keeps_alive());
}

TEST(ResponseHead, CarriesTheRequestsIdOnceAndTheDecisionWhenGiven) {
    const std::string bytes =
        "HTTP/1.1 200 OK\r\nX-Request-Id: theirs\r\nx-prefix-router-decision: inner\r\n"
        "Content-Length: 0\r\n\r\n";
    EXPECT_EQ(rewritten(bytes, {.request_id = "mine"}),
              "HTTP/1.1 200 OK\r\nx-prefix-router-decision: inner\r\nContent-Length: 0\r\n"
              "X-Request-Id: mine\r\n\r\n");
    EXPECT_EQ(rewritten(bytes, {.request_id = "mine", .decision = "b1; warm; 512"}),
              "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Request-Id: mine\r\n"
              "X-Prefix-Router-Decision: b1; warm; 512\r\n\r\n");
}

TEST(ResponseHead, SaysCloseWhenTheClientsConnectionEnds) {
    EXPECT_EQ(rewritten("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", {.keeps_alive = false}),
              "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\n");
    EXPECT_FALSE(
        parse_response("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", {.keeps_alive = false})
            .head.client_keeps_alive());
}

struct FramingRow {
    std::string fields;
    Asker asker;
    Framing framing;
    Relay relay;
    std::string sent;  // the framing fields that the client sees
    bool backend_keeps_alive;
};

TEST(ResponseHead, FramesForTheClientWhatTheBackendFramed) {
    const std::string chunked = "Transfer-Encoding: chunked\r\n";
    const std::string close = "Connection: close\r\n";
    const std::string length = "Content-Length: 5\r\n";
    const Asker http11{};
    const std::vector<FramingRow> rows = {
        {length, http11, Framing::Length, Relay::AsReceived, length, true},
        {length, kHttp10, Framing::Length, Relay::AsReceived, length + close, true},
        {length + length, http11, Framing::Length, Relay::AsReceived, length, true},
        {"Content-Length: 0\r\n", http11, Framing::None, Relay::Nothing, "Content-Length: 0\r\n",
         true},
        {"Transfer-Encoding: Chunked\r\n", http11, Framing::Chunked, Relay::AsReceived, chunked,
         true},
        {chunked, kHttp10, Framing::Chunked, Relay::RemoveChunks, close, true},
        {"", http11, Framing::UntilClose, Relay::AddChunks, chunked, false},
        {"", kHttp10, Framing::UntilClose, Relay::AsReceived, close, false},
        // RFC 9112 section 6.3: chunked wins, the length is removed, the connection not reused.
        {length + chunked, http11, Framing::Chunked, Relay::AsReceived, chunked, false},
        {chunked + "content-length: 5\r\n", http11, Framing::Chunked, Relay::AsReceived, chunked,
         false},
        {chunked + length, kHttp10, Framing::Chunked, Relay::RemoveChunks, close, false},
    };
    for (const FramingRow& row : rows) {
        const ParsedResponse parsed =
            parse_response("HTTP/1.1 200 OK\r\n" + row.fields + "\r\n", row.asker);
        ASSERT_FALSE(parsed.error) << row.fields;
        EXPECT_EQ(parsed.head.framing(), row.framing) << row.fields;
        EXPECT_EQ(parsed.head.relay(), row.relay) << row.fields;
        EXPECT_EQ(parsed.head.text(), "HTTP/1.1 200 OK\r\n" + row.sent + "\r\n") << row.fields;
        EXPECT_EQ(parsed.head.backend_keeps_alive(), row.backend_keeps_alive) << row.fields;
    }
}

TEST(ResponseHead, HasNoBodyForHead204And304WhateverTheFieldsSay) {
    struct Row {
        std::string bytes;
        bool is_head;
        std::string text;
    };
    const std::vector<Row> rows = {
        {"HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n", true,
         "HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", true, "HTTP/1.1 200 OK\r\n\r\n"},
        {"HTTP/1.1 200 OK\r\n\r\n", true, "HTTP/1.1 200 OK\r\n\r\n"},
        {"HTTP/1.1 204 No Content\r\nContent-Length: 7\r\n\r\n", false,
         "HTTP/1.1 204 No Content\r\n\r\n"},
        {"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", false,
         "HTTP/1.1 204 No Content\r\n\r\n"},
        {"HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\nContent-Length: 77\r\n\r\n", false,
         "HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\nContent-Length: 77\r\n\r\n"},
    };
    for (const Row& row : rows) {
        const ParsedResponse parsed = parse_response(row.bytes, {.is_head = row.is_head});
        EXPECT_EQ(parsed.head.framing(), Framing::None) << row.bytes;
        EXPECT_EQ(parsed.head.relay(), Relay::Nothing) << row.bytes;
        EXPECT_EQ(parsed.head.text(), row.text);
        EXPECT_TRUE(parsed.head.backend_keeps_alive()) << row.bytes;
    }
}

TEST(ResponseHead, InterimAnswersPassExceptContinueAndToOldClients) {
    const std::string hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    const ParsedResponse parsed = parse_response(hints + "HTTP/1.1 200 OK\r\n\r\n");
    EXPECT_EQ(parsed.size, hints.size());
    EXPECT_TRUE(parsed.head.is_interim());
    EXPECT_TRUE(parsed.head.should_forward_interim());
    EXPECT_EQ(parsed.head.text(), hints);
    EXPECT_EQ(parsed.head.framing(), Framing::None);
    EXPECT_FALSE(parse_response(hints, kHttp10).head.should_forward_interim());
    const ParsedResponse hundred = parse_response("HTTP/1.1 100 Continue\r\n\r\n");
    EXPECT_TRUE(hundred.head.is_interim());
    EXPECT_FALSE(hundred.head.should_forward_interim());
}

TEST(ResponseHead, TellsWhetherTheBackendKeepsTheConnection) {
    const auto keeps = [](const std::string& head) {
        return parse_response(head + "\r\n").head.backend_keeps_alive();
    };
    EXPECT_TRUE(keeps("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"));
    EXPECT_FALSE(keeps("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n"));
    EXPECT_TRUE(keeps("HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive\r\n"));
    EXPECT_FALSE(keeps("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n"));
    EXPECT_FALSE(
        keeps("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n"
              "Connection: keep-alive\r\n"));
}

TEST(ResponseHead, ShowsContentTypeAndEncoding) {
    const ParsedResponse parsed = parse_response(
        "HTTP/1.1 200 OK\r\nX-Hop: 123\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
        "Connection: x-hop\r\nContent-Encoding: br\r\n\r\n");
    EXPECT_EQ(parsed.head.content_type(), "text/event-stream; charset=utf-8");
    EXPECT_EQ(parsed.head.content_encoding(), "br");
}

TEST(ResponseHead, UnfoldsFoldedLines) {
    EXPECT_EQ(rewritten("HTTP/1.1 200 OK\r\nA: b\r\n  c\r\nContent-Length: 5\r\n\r\n"),
              "HTTP/1.1 200 OK\r\nA: b c\r\nContent-Length: 5\r\n\r\n");
}

TEST(ResponseHead, SwitchesToWebSocketForWhoAsked) {
    const std::string bytes =
        "HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: x\r\nConnection: upgrade\r\n"
        "Upgrade: WebSocket\r\nX-Request-Id: theirs\r\n\r\n";
    const Asker asker{.wants_upgrade = true, .request_id = "r"};
    const ParsedResponse parsed = parse_response(bytes, asker);
    EXPECT_EQ(parsed.head.text(),
              "HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: x\r\nX-Request-Id: r\r\n"
              "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    EXPECT_TRUE(parsed.head.is_switch());
    EXPECT_FALSE(parsed.head.is_interim());
    EXPECT_FALSE(parsed.head.backend_keeps_alive());
    EXPECT_FALSE(parsed.head.client_keeps_alive());
    EXPECT_EQ(parse_response(bytes, {}).error, ErrorKind::BadResponse);
    for (const std::string_view fields : {"", "Upgrade: websocket\r\n", "Connection: upgrade\r\n",
                                          "Connection: upgrade\r\nUpgrade: h2c\r\n"}) {
        EXPECT_EQ(parse_response("HTTP/1.1 101 S\r\n" + std::string(fields) + "\r\n", asker).error,
                  ErrorKind::BadResponse)
            << fields;
    }
}

TEST(ResponseHead, TurnsALocationOnTheBackendIntoAPathHere) {
    const auto location = [](std::string_view value, std::string_view base = "") {
        const Asker asker{.backend_authority = "10.0.0.7:8000", .backend_base_path = base};
        const std::string text = rewritten(
            "HTTP/1.1 307 T\r\nContent-Length: 0\r\nLocation: " + std::string(value) + "\r\n\r\n",
            asker);
        const std::size_t begin = text.find("Location: ") + 10;
        return text.substr(begin, text.find("\r\n", begin) - begin);
    };
    EXPECT_EQ(location("http://10.0.0.7:8000/v1/models?x#y"), "/v1/models?x#y");
    EXPECT_EQ(location("https://10.0.0.7:8000/a"), "/a");
    EXPECT_EQ(location("http://10.0.0.7:8000"), "/");
    EXPECT_EQ(location("http://10.0.0.7:8000?x"), "/?x");
    EXPECT_EQ(location("http://10.0.0.7:80001/a"), "http://10.0.0.7:80001/a");
    EXPECT_EQ(location("http://elsewhere/a"), "http://elsewhere/a");
    EXPECT_EQ(location("/a"), "/a");
    EXPECT_EQ(location("a?b"), "a?b");
    EXPECT_EQ(location("//10.0.0.7/base/a", "/base"), "//10.0.0.7/base/a");
    EXPECT_EQ(location("http://10.0.0.7:8000/base/a", "/base"), "/a");
    EXPECT_EQ(location("/base/a", "/base"), "/a");
    EXPECT_EQ(location("/base", "/base"), "/");
    EXPECT_EQ(location("/base?x", "/base"), "/?x");
    EXPECT_EQ(location("/BASE/a", "/base"), "/BASE/a");
    EXPECT_EQ(location("//10.0.0.7:8000/base/a", "/base"), "/a");
    EXPECT_EQ(location("HTTP://10.0.0.7:8000/a"), "/a");
    EXPECT_EQ(location("/based/a", "/base"), "/based/a");
}

TEST(ResponseHead, DoesNotTellOfOtherPlacesOfTheBackend) {
    EXPECT_THAT(rewritten("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"
                          "Alt-Svc: h2=\"10.0.0.7:443\"\r\nX-A: b\r\n\r\n",
                          Asker{}),
                testing::Not(testing::HasSubstr("10.0.0.7")));
}

TEST(ResponseHead, RefusesWhatIsNotAnAnswer) {
    const std::vector<std::string> bad = {
        "SSH-2.0-x\r\n",
        "\x00\x01\x02garbage"s,
        "HTTP/2.0 200 OK\r\n\r\n",
        "HTTP/1.1 2x0 OK\r\n\r\n",
        "HTTP/1.1 99 Low\r\n\r\n",
        "HTTP/1.1 099 Low\r\n\r\n",
        "HTTP/1.1 1000 High\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nBad Name: 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: b\0c\r\n\r\n"s,
        "HTTP/1.1 200 OK\nContent-Length: 5\n\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\nContent-Length: 5\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: " + std::string(70'000, 'a'),
    };
    for (const std::string& bytes : bad) {
        for (std::size_t cut = 0; cut < std::min<std::size_t>(bytes.size(), 200); ++cut) {
            EXPECT_EQ(parse_response(bytes, {}, cut).error, ErrorKind::BadResponse)
                << bytes.substr(0, 80) << ", cut at " << cut;
        }
    }
}

TEST(ResponseHead, IsTheSameWhereverTheBytesAreCut) {
    const std::string head =
        "HTTP/1.1 200 OK\r\nA: 1\r\nConnection: a\r\nContent-Type: application/json\r\n"
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n";
    const Asker asker{.request_id = "r"};
    const std::string text = rewritten(head, asker);
    for (const std::string& bytes : {head, "\r\n" + head}) {
        for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
            const ParsedResponse parsed = parse_response(bytes, asker, cut);
            ASSERT_EQ(parsed.size, bytes.size()) << cut;
            EXPECT_EQ(parsed.head.text(), text) << cut;
        }
    }
}

}  // namespace
}  // namespace prefix_router::http
