#include "prefix_router/http/request_head.hpp"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "unit/http/feeding.hpp"

namespace prefix_router::http {
namespace {

// What follows the client's own fields when it sent an X-Request-Id of "r".
constexpr std::string_view kAdded =
    "X-Forwarded-For: 203.0.113.9\r\n"
    "X-Forwarded-Host: router\r\n"
    "X-Forwarded-Proto: http\r\n"
    "X-Request-Id: r\r\n"
    "Via: 1.1 prefix-router\r\n";

std::string request(std::string_view line, std::string_view fields) {
    return std::string(line) + "\r\nHost: router\r\nX-Request-Id: r\r\n" + std::string(fields) +
           "\r\n";
}

std::string expected(std::string_view line, std::string_view fields, std::string_view length = "") {
    return std::string(line) + "\r\nHost: backend:8000\r\n" + std::string(fields) +
           std::string(kAdded) + std::string(length) + "\r\n";
}

std::string rewritten(std::string_view bytes, std::uint64_t body_bytes = 0) {
    ParsedRequest parsed = parse_request(bytes);
    EXPECT_EQ(parsed.size, bytes.size());
    return text_for(parsed.head, body_bytes);
}

TEST(RequestHead, SendsAReplacedFieldOnceWhereverTheClientsStood) {
    ParsedRequest parsed = parse_request(
        request("POST /v1/chat/completions HTTP/1.1",
                "TraceParent: one\r\nX-Amzn-SageMaker-Prefix-Aware-Id: home\r\ntraceparent: two\r\n"
                "traceparents: other\r\n"));
    parsed.head.replace_field("traceparent", "mine");
    EXPECT_EQ(parsed.head.field("traceparent"), "mine");
    EXPECT_EQ(parsed.head.field("traceparents"), "other");
    EXPECT_EQ(parsed.head.prefix_id(), "home");
    EXPECT_EQ(parsed.head.request_id(), "r");
    EXPECT_EQ(parsed.head.path(), "/v1/chat/completions");
    parsed.head.replace_field("traceparent", "");
    EXPECT_EQ(parsed.head.field("traceparent"), "");
    EXPECT_EQ(text_for(parsed.head, 2),
              expected("POST /v1/chat/completions HTTP/1.1",
                       "X-Amzn-SageMaker-Prefix-Aware-Id: home\r\ntraceparents: other\r\n",
                       "Content-Length: 2\r\n"));
}

TEST(RequestHead, PassesEndToEndFieldsInOrderAndMultiplicity) {
    const std::string fields =
        "Accept: */*\r\nX-End: one\r\nAuthorization: Bearer sk\r\nX-End: two\r\n"
        "traceparent: 00-07-09-01\r\nAccept-Encoding: gzip, br\r\nCookie: a=b\r\nVia: 1.1 edge\r\n";
    EXPECT_EQ(rewritten(request("GET /v1/models?api-version=1&x=%2F HTTP/1.1", fields)),
              expected("GET /v1/models?api-version=1&x=%2F HTTP/1.1", fields));
}

TEST(RequestHead, DropsHopByHopFieldsAndWhatConnectionNominatesBeforeOrAfterIt) {
    const std::string fields =
        "X-Before: 1\r\nA: 1\r\nConnection: keep-alive, X-Before ,,x-AFTER\r\nX-After: 1\r\nB: "
        "2\r\n"
        "Keep-Alive: timeout=9\r\nProxy-Connection: keep-alive\r\nProxy-Authorization: Basic c\r\n"
        "TE: trailers\r\nTrailer: X-Sum\r\nUpgrade: h2c\r\n";
    EXPECT_EQ(rewritten(request("GET / HTTP/1.1", fields)),
              expected("GET / HTTP/1.1", "A: 1\r\nB: 2\r\n"));
}

TEST(RequestHead, ConnectionCannotTakeAwayWhatTheRouterAdds) {
    const std::string fields =
        "Connection: host, content-length, x-forwarded-for, x-forwarded-host, x-request-id, "
        "via\r\n";
    EXPECT_EQ(rewritten(request("GET / HTTP/1.1", fields)), expected("GET / HTTP/1.1", ""));
}

TEST(RequestHead, NominatedFieldsMoveTheViewsOfTheOthers) {
    const std::string bytes =
        request("POST /invocations HTTP/1.1",
                "X-Long-Field-Name: some value\r\nX-Amzn-SageMaker-Prefix-Aware-Id: tenant-7\r\n"
                "Content-Type: application/json\r\nConnection: x-long-field-name\r\n");
    const ParsedRequest parsed = parse_request(bytes);
    EXPECT_EQ(parsed.head.prefix_id(), "tenant-7");
    const ParsedRequest dropped =
        parse_request(request("GET / HTTP/1.1",
                              "X-Amzn-SageMaker-Prefix-Aware-Id: a\r\n"
                              "Connection: x-amzn-sagemaker-prefix-aware-id\r\n"));
    EXPECT_EQ(dropped.head.prefix_id(), "");
}

TEST(RequestHead, SendsExactlyOneLengthWhateverTheClientsFramingWas) {
    EXPECT_EQ(rewritten(request("POST / HTTP/1.1", "Content-Length: 5\r\nA: 1\r\n"), 5),
              expected("POST / HTTP/1.1", "A: 1\r\n", "Content-Length: 5\r\n"));
    EXPECT_EQ(
        rewritten(request("POST / HTTP/1.1", "Transfer-Encoding: Chunked\r\nA: 1\r\n"), 70000),
        expected("POST / HTTP/1.1", "A: 1\r\n", "Content-Length: 70000\r\n"));
    EXPECT_EQ(rewritten(request("GET / HTTP/1.1", "Transfer-Encoding: chunked\r\n"), 0),
              expected("GET / HTTP/1.1", "", "Content-Length: 0\r\n"));
    EXPECT_EQ(rewritten(request("POST / HTTP/1.1", "")),
              expected("POST / HTTP/1.1", "", "Content-Length: 0\r\n"));
    EXPECT_EQ(rewritten(request("DELETE / HTTP/1.1", "")), expected("DELETE / HTTP/1.1", ""));
}

TEST(RequestHead, TellsFramingAndContinue) {
    const auto head = [](std::string_view fields, std::string_view line = "POST / HTTP/1.1") {
        return parse_request(request(line, fields)).head;
    };
    EXPECT_EQ(head("Content-Length: 5\r\n").framing(), Framing::Length);
    EXPECT_EQ(head("Content-Length: 5\r\n").content_length(), 5U);
    EXPECT_EQ(head("Content-Length: 0\r\n").framing(), Framing::None);
    EXPECT_EQ(head("Transfer-Encoding: chunked\r\n").framing(), Framing::Chunked);
    EXPECT_EQ(head("").framing(), Framing::None);
    EXPECT_TRUE(head("Expect: 100-Continue\r\nContent-Length: 5\r\n").expects_continue());
    EXPECT_FALSE(head("Expect: 100-continue\r\n").expects_continue());
    EXPECT_FALSE(head("Expect: 100-continue\r\nContent-Length: 5\r\n", "POST / HTTP/1.0")
                     .expects_continue());
}

TEST(RequestHead, KeepsAliveUnlessTheClientSaysCloseOrIsOld) {
    const auto keeps_alive = [](std::string_view line, std::string_view fields) {
        return parse_request(request(line, fields)).head.keeps_alive();
    };
    EXPECT_TRUE(keeps_alive("GET / HTTP/1.1", ""));
    EXPECT_FALSE(keeps_alive("GET / HTTP/1.1", "Connection: Close\r\n"));
    EXPECT_FALSE(keeps_alive("GET / HTTP/1.1", "Connection: keep-alive\r\nConnection: close\r\n"));
    EXPECT_FALSE(keeps_alive("GET / HTTP/1.0", "Connection: keep-alive\r\n"));
}

TEST(RequestHead, OldClientsAreForwardedAsHttp11) {
    ParsedRequest parsed = parse_request("GET /x HTTP/1.0\r\nX-Request-Id: r\r\n\r\n");
    EXPECT_EQ(parsed.head.version(), Version::Http10);
    EXPECT_EQ(text_for(parsed.head),
              "GET /x HTTP/1.1\r\nHost: backend:8000\r\nX-Forwarded-For: 203.0.113.9\r\n"
              "X-Forwarded-Proto: http\r\nX-Request-Id: r\r\nVia: 1.0 prefix-router\r\n\r\n");
}

TEST(RequestHead, AppendsThePeerToForwardedForAndKeepsWhatOtherProxiesSaid) {
    const std::string fields =
        "X-Forwarded-For: 10.0.0.1\r\nx-forwarded-for: 10.0.0.2, 10.0.0.3\r\n"
        "X-Forwarded-Proto: https\r\nX-Forwarded-Host: api.example\r\n";
    EXPECT_EQ(rewritten(request("GET / HTTP/1.1", fields)),
              "GET / HTTP/1.1\r\nHost: backend:8000\r\n"
              "X-Forwarded-For: 10.0.0.1, 10.0.0.2, 10.0.0.3, 203.0.113.9\r\n"
              "X-Forwarded-Host: api.example\r\nX-Forwarded-Proto: https\r\n"
              "X-Request-Id: r\r\nVia: 1.1 prefix-router\r\n\r\n");
}

TEST(RequestHead, KeepsTheFirstRequestIdAndMakesOneWhenThereIsNoUsableOne) {
    const auto id = [](std::string_view fields) {
        const std::string bytes = "GET / HTTP/1.1\r\nHost: h\r\n" + std::string(fields) + "\r\n";
        ParsedRequest parsed = parse_request(bytes);
        const std::string text = text_for(parsed.head);
        EXPECT_EQ(text.find("X-Request-Id: "), text.rfind("X-Request-Id: "));
        return std::string(parsed.head.request_id());
    };
    EXPECT_EQ(id("x-request-id: mine\r\nX-Request-Id: other\r\n"), "mine");
    const std::string made = id("");
    EXPECT_EQ(made.size(), 32U);
    EXPECT_EQ(made.find_first_not_of("0123456789abcdef"), std::string::npos);
    EXPECT_EQ(id("X-Request-Id: has space\r\n").size(), 32U);
    EXPECT_EQ(id("X-Request-Id: " + std::string(5000, 'x') + "\r\n").size(), 32U);
}

TEST(RequestHead, NewRequestIdsDiffer) {
    Random random(1);
    const Arrival arrival{kPeer, "http", random};
    const HeadLimits limits;
    RequestHeadParser parser(limits);
    RequestHead head;
    ASSERT_TRUE(parser.parse("GET / HTTP/1.1\r\nHost: h\r\n\r\n", arrival, head).has_value());
    const std::string first(head.request_id());
    parser.reset();
    ASSERT_TRUE(parser.parse("GET / HTTP/1.1\r\nHost: h\r\n\r\n", arrival, head).has_value());
    EXPECT_NE(head.request_id(), first);
}

TEST(RequestHead, PutsTheBackendsBasePathAndAuthorityInForEachBackendAnew) {
    ParsedRequest parsed = parse_request(request("GET /v1/models HTTP/1.1", ""));
    parsed.head.seal(0);
    const auto join = [&parsed](std::string_view base, std::string_view authority) {
        std::string text;
        for (const std::string_view piece : parsed.head.pieces(base, authority)) {
            text += piece;
        }
        return text;
    };
    const std::string tail = std::string(kAdded) + "\r\n";
    EXPECT_EQ(join("/base", "[::1]:8000"),
              "GET /base/v1/models HTTP/1.1\r\nHost: [::1]:8000\r\n" + tail);
    EXPECT_EQ(join("", "other"), "GET /v1/models HTTP/1.1\r\nHost: other\r\n" + tail);
    ParsedRequest options = parse_request(request("OPTIONS * HTTP/1.1", ""));
    EXPECT_TRUE(text_for(options.head, 0, "/base").starts_with("OPTIONS * HTTP/1.1\r\n"));
}

TEST(RequestHead, TellsTheTargetItsPathAndTheAuthorityAskedFor) {
    struct Row {
        std::string_view line, target, path, authority;
    };
    for (const Row& row : {
             Row{"GET /v1/models?x=/y?z HTTP/1.1", "/v1/models?x=/y?z", "/v1/models", "router"},
             Row{"GET http://evil:81/v1/models HTTP/1.1", "/v1/models", "/v1/models", "evil:81"},
             Row{"GET HTTPS://evil HTTP/1.1", "/", "/", "evil"},
             Row{"GET http://evil?q=1 HTTP/1.1", "/?q=1", "/", "evil"},
             Row{"OPTIONS http://evil HTTP/1.1", "*", "*", "evil"},
             Row{"OPTIONS * HTTP/1.1", "*", "*", "router"},
             Row{"GET //v1/../metrics HTTP/1.1", "//v1/../metrics", "//v1/../metrics", "router"},
             Row{"GET /%2e%2e/admin;x HTTP/1.1", "/%2e%2e/admin;x", "/%2e%2e/admin;x", "router"},
             Row{"BREW /pot HTTP/1.1", "/pot", "/pot", "router"},
         }) {
        const ParsedRequest parsed = parse_request(request(row.line, ""));
        EXPECT_EQ(parsed.head.target(), row.target) << row.line;
        EXPECT_EQ(parsed.head.path(), row.path) << row.line;
        EXPECT_EQ(parsed.head.authority(), row.authority) << row.line;
    }
}

TEST(RequestHead, HashesCredentials) {
    const auto hash = [](std::string_view fields) {
        return parse_request(request("GET / HTTP/1.1", fields)).head.credential_hash();
    };
    EXPECT_EQ(hash(""), 0U);
    EXPECT_NE(hash("Authorization: Bearer a\r\n"), hash("Authorization: Bearer b\r\n"));
    EXPECT_NE(hash("X-Api-Key: a\r\n"), hash("X-Api-Key: b\r\n"));
    EXPECT_EQ(hash("authorization: Bearer a\r\n"), hash("Authorization: Bearer a\r\n"));
}

TEST(RequestHead, FindsAFieldThatGoesOnByItsName) {
    const auto parsed = parse_request(
        "GET / HTTP/1.1\r\nHost: a\r\nX-One:  1 \r\nX-Two: a: b\r\nX-Empty:\r\nX-Three: 3\r\n"
        "x-three: 4\r\nX-Gone: 5\r\nConnection: x-gone\r\n\r\n");
    EXPECT_EQ(parsed.head.field("x-one"), "1");
    EXPECT_EQ(parsed.head.field("X-TWO"), "a: b");
    EXPECT_EQ(parsed.head.field("X-Empty"), "");
    EXPECT_EQ(parsed.head.field("X-Three"), "") << "which of two counts is anybody's guess";
    EXPECT_EQ(parsed.head.field("X-Gone"), "") << "Connection nominates it";
    EXPECT_EQ(parsed.head.field("X-On"), "");
    EXPECT_EQ(parsed.head.field("Via"), "1.1 prefix-router");
}

TEST(RequestHead, PassesAnOfferOfWebSocketOnAndNoOther) {
    const auto wants = [](std::string_view fields, std::string_view line = "GET / HTTP/1.1") {
        ParsedRequest parsed = parse_request(request(line, fields));
        const std::string text = text_for(parsed.head);
        const bool is_passed_on =
            text.find("Connection: Upgrade\r\nUpgrade: websocket\r\n") != std::string::npos;
        EXPECT_EQ(parsed.head.wants_upgrade(), is_passed_on) << fields;
        EXPECT_EQ(text.find("Upgrade") != std::string::npos, is_passed_on) << fields;
        return is_passed_on;
    };
    const std::string_view offer = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
    EXPECT_TRUE(wants(offer));
    EXPECT_TRUE(wants("Upgrade: WebSocket\r\nConnection: keep-alive, upgrade\r\n"));
    EXPECT_FALSE(wants(offer, "GET / HTTP/1.0"));
    EXPECT_FALSE(wants(offer, "POST / HTTP/1.1"));
    EXPECT_FALSE(wants(std::string(offer) + "Content-Length: 5\r\n"));
    EXPECT_FALSE(wants("Upgrade: h2c\r\n"));
    EXPECT_FALSE(wants("Connection: upgrade\r\n"));
    // curl --http2 offers h2c and is content with HTTP/1.1.
    EXPECT_FALSE(wants("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"));
}

TEST(RequestHead, LeavesBodyAndPipelinedRequestsToTheCaller) {
    const std::string head = request("POST / HTTP/1.1", "Content-Length: 5\r\n");
    const ParsedRequest parsed = parse_request(head + "helloGET / HTTP/1.1\r\n\r\n");
    EXPECT_EQ(parsed.size, head.size());
}

TEST(RequestHead, SkipsEmptyLinesBeforeTheRequestLine) {
    const std::string head = "\r\n\r\n" + request("GET /x HTTP/1.1", "");
    for (std::size_t cut = 0; cut <= head.size(); ++cut) {
        const ParsedRequest parsed = parse_request(head, cut);
        EXPECT_EQ(parsed.size, head.size()) << cut;
        EXPECT_EQ(parsed.head.target(), "/x") << cut;
    }
}

TEST(RequestHead, IsTheSameWhereverTheBytesAreCut) {
    const std::string bytes =
        request("POST http://h/v1/chat/completions?x=1 HTTP/1.1",
                "A: 1\r\nConnection: a, close\r\nContent-Type: application/json\r\n"
                "Content-Length: 12\r\nExpect: 100-continue\r\nX-Forwarded-For: 1.2.3.4\r\n");
    ParsedRequest whole = parse_request(bytes);
    const std::string text = text_for(whole.head, 12);
    for (std::size_t cut = 1; cut <= bytes.size(); ++cut) {
        ParsedRequest parsed = parse_request(bytes, cut);
        ASSERT_EQ(parsed.size, bytes.size()) << cut;
        EXPECT_EQ(text_for(parsed.head, 12), text) << cut;
    }
}

TEST(RequestHead, ComesByteByByte) {
    const std::string bytes = request("GET / HTTP/1.1", "A: 1\r\n");
    Random random(1);
    const Arrival arrival{kPeer, "http", random};
    const HeadLimits limits;
    RequestHeadParser parser(limits);
    RequestHead head;
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const auto result = parser.parse(bytes.substr(0, size), arrival, head);
        ASSERT_TRUE(result.has_value());
        ASSERT_EQ(*result, 0U) << size;
    }
    const auto result = parser.parse(bytes, arrival, head);
    ASSERT_TRUE(result.has_value());
    EXPECT_EQ(*result, bytes.size());
}

}  // namespace
}  // namespace prefix_router::http
