#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "prefix_router/http/chunk_follower.hpp"
#include "prefix_router/http/request_head.hpp"

#include "unit/http/feeding.hpp"

namespace prefix_router::http {
namespace {

using std::string_literals::operator""s;

struct Refusal {
    std::string name;
    std::string bytes;
    ErrorKind kind = ErrorKind::BadRequest;
};

// The message is refused at its head, or its body's framing breaks (which is a BadRequest too).
std::optional<ErrorKind> refusal_of(std::string_view bytes, std::size_t cut) {
    const ParsedRequest parsed = parse_request(bytes, cut);
    if (parsed.error || parsed.size == 0 || parsed.head.framing() != Framing::Chunked) {
        return parsed.error;
    }
    ChunkFollower follower;
    std::string_view rest = bytes.substr(parsed.size);
    while (!follower.next(rest).empty()) {
    }
    return follower.is_broken() ? std::optional(ErrorKind::BadRequest) : std::nullopt;
}

void expect_refused(const std::vector<Refusal>& refusals) {
    for (const Refusal& refusal : refusals) {
        for (std::size_t cut = 0; cut <= refusal.bytes.size(); ++cut) {
            const std::optional<ErrorKind> kind = refusal_of(refusal.bytes, cut);
            ASSERT_TRUE(kind.has_value()) << refusal.name << ", cut at " << cut;
            ASSERT_EQ(to_string(*kind), to_string(refusal.kind)) << refusal.name;
        }
    }
}

std::string post(const std::string& fields, const std::string& body = "") {
    return "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n" + body;
}

const std::string kInner = "GET /smuggled HTTP/1.1\r\nHost: x\r\nX-Case: 1\r\n\r\n";
const std::string kZero = "0\r\n\r\n";
const std::string kChunked = "Transfer-Encoding: chunked\r\n";

std::string length(std::size_t size) {
    return "Content-Length: " + std::to_string(size) + "\r\n";
}

// tests/scenarios/open/b10_smuggling_basics.py, payload by payload.
TEST(RequestRefusal, HoldsForEverySmugglingBasic) {
    const std::string both = length(kZero.size() + kInner.size());
    const std::string inner = length(kInner.size());
    expect_refused({
        {"CL+TE", post(both + kChunked, kZero + kInner)},
        {"TE+CL small", post(kChunked + length(3), "1\r\nA\r\n" + kZero + kInner)},
        {"two CL", post(length(0) + inner, kInner)},
        {"two CL reversed", post(inner + length(0), kInner)},
        {"CL list", post("Content-Length: 0, 45\r\n", kInner)},
        {"CL plus sign", post("Content-Length: +45\r\n", kInner)},
        {"CL hex", post("Content-Length: 0x2d\r\n", kInner)},
        {"CL huge", post("Content-Length: 99999999999999999999999\r\n", kInner)},
        {"TE xchunked", post("Transfer-Encoding: xchunked\r\n" + inner, kInner)},
        {"TE spaced name", post("Transfer-Encoding : chunked\r\n" + both, kZero + kInner)},
        {"TE folded", post("Transfer-Encoding:\r\n chunked\r\n" + both, kZero + kInner)},
        {"TE vertical tab", post("Transfer-Encoding: \x0b"s + "chunked\r\n" + both, kZero)},
        {"NUL in value", post("X-A: a\0b\r\n"s + length(0), kInner)},
        {"bare CR in value", post("X-A: a\rContent-Length: 5\r\n" + length(0))},
        {"bare LF hides header", post("X-A: a\nTransfer-Encoding: chunked\r\n" + both, kZero)},
        {"space in name", post(length(0) + "X A: 1\r\n")},
        {"no colon", post(length(0) + "garbage\r\n")},
        {"chunk size overflow", post(kChunked, "ffffffffffffffff5\r\nhello\r\n" + kZero)},
        {"chunk size sign", post(kChunked, "-1\r\nhello\r\n" + kZero)},
        {"chunk size junk", post(kChunked, "5 5\r\nhello\r\n" + kZero)},
        {"chunk missing CRLF", post(kChunked, "5\r\nhelloX" + kZero)},
    });
}

TEST(RequestRefusal, HoldsForOtherAmbiguousFraming) {
    expect_refused({
        {"equal CL twice", post(length(5) + length(5), "hello")},
        {"CL list of equals", post("Content-Length: 5, 5\r\n", "hello")},
        {"CL negative", post("Content-Length: -5\r\n")},
        {"CL empty", post("Content-Length:\r\n")},
        {"CL inner space", post("Content-Length: 1 2\r\n")},
        {"CL over 63 bits", post("Content-Length: 9223372036854775808\r\n")},
        {"CL over 64 bits", post("Content-Length: 18446744073709551616\r\n")},
        {"TE twice", post(kChunked + kChunked, kZero)},
        {"TE empty", post("Transfer-Encoding:\r\n")},
        {"TE in HTTP/1.0", "POST / HTTP/1.0\r\nHost: x\r\n" + kChunked + "\r\n" + kZero},
        {"TE folded after value", post("Transfer-Encoding: chunked\r\n ,x\r\n", kZero)},
        {"fold before any field", "GET / HTTP/1.1\r\n Host: x\r\nHost: x\r\n\r\n"},
        {"tab fold", post("X-A: a\r\n\tb\r\n")},
        {"empty name", post(": a\r\n")},
        {"DEL in value", post("X-A: a\x7f\r\n")},
        {"bad Connection list", post("Connection: a b\r\n")},
    });
}

TEST(RequestRefusal, IsNotImplementedForUnknownCodings) {
    expect_refused({
        {"xchunked", post("Transfer-Encoding: xchunked\r\n"), ErrorKind::UnknownCoding},
        {"gzip first", post("Transfer-Encoding: gzip, chunked\r\n"), ErrorKind::UnknownCoding},
        {"gzip last", post("Transfer-Encoding: chunked, gzip\r\n"), ErrorKind::UnknownCoding},
        {"identity", post("Transfer-Encoding: identity\r\n"), ErrorKind::UnknownCoding},
        {"quoted", post("Transfer-Encoding: \"chunked\"\r\n"), ErrorKind::UnknownCoding},
        {"parameter", post("Transfer-Encoding: chunked;x=1\r\n"), ErrorKind::UnknownCoding},
    });
}

TEST(RequestRefusal, HoldsForHostsThatAreMissingDoubledOrInvalid) {
    const auto with = [](const std::string& fields) {
        return "GET / HTTP/1.1\r\n" + fields + "\r\n";
    };
    expect_refused({
        {"missing", with("A: 1\r\n")},
        {"two", with("Host: a\r\nHost: b\r\n")},
        {"two equal", with("Host: a\r\nhost: a\r\n")},
        {"two in HTTP/1.0", "GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n"},
        {"list", with("Host: a, b\r\n")},
        {"path", with("Host: a/b\r\n")},
        {"user", with("Host: user@a\r\n")},
        {"space", with("Host: a b\r\n")},
        {"port text", with("Host: a:http\r\n")},
        {"port long", with("Host: a:800000\r\n")},
        {"port alone", with("Host: :80\r\n")},
        {"open bracket", with("Host: [::1\r\n")},
        {"bracket rest", with("Host: [::1]x\r\n")},
        {"high byte", with("Host: a\xff\r\n")},
        {"absolute target, no Host", "GET http://a/ HTTP/1.1\r\n\r\n"},
    });
    for (const char* host : {"", "a", "a.example:80", "[::1]:8000", "127.0.0.1", "a_b-c"}) {
        EXPECT_FALSE(parse_request(with("Host: " + std::string(host) + "\r\n")).error) << host;
    }
}

TEST(RequestRefusal, HoldsForTargetsInNoServedForm) {
    const auto line = [](const std::string& start) { return start + "\r\nHost: x\r\n\r\n"; };
    expect_refused({
        {"CONNECT", line("CONNECT a:443 HTTP/1.1")},
        {"CONNECT path", line("CONNECT / HTTP/1.1")},
        {"star for GET", line("GET * HTTP/1.1")},
        {"fragment", line("GET /v1/models#x HTTP/1.1")},
        {"no slash", line("GET v1/models HTTP/1.1")},
        {"other scheme", line("GET ftp://a/ HTTP/1.1")},
        {"empty authority", line("GET http:///v1 HTTP/1.1")},
        {"user information", line("GET http://u:p@a/ HTTP/1.1")},
        {"space", line("GET /a b HTTP/1.1")},
        {"two spaces", line("GET  / HTTP/1.1")},
        {"tab", line("GET\t/ HTTP/1.1")},
        {"control", line("GET /\x01 HTTP/1.1")},
        {"high byte", line("GET /\xc3\xa4 HTTP/1.1")},
        {"no version", line("GET /")},
        {"HTTP/2.0", line("GET / HTTP/2.0")},
        {"HTTP/1.2", line("GET / HTTP/1.2")},
        {"HTTP/0.9", line("GET / HTTP/0.9")},
        {"lower case", line("GET / http/1.1")},
        {"version rest", line("GET / HTTP/1.1 ")},
        {"method character", line("G(T / HTTP/1.1")},
        {"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
    });
}

TEST(RequestRefusal, IsExpectationFailedForAnythingBut100Continue) {
    expect_refused({{"Expect", post("Expect: 200-maybe\r\n"), ErrorKind::ExpectationFailed}});
}

TEST(RequestRefusal, ComesWithTheFirstBytesOfAnotherProtocol) {
    EXPECT_EQ(parse_request("\x16\x03\x01").error, ErrorKind::BadRequest);  // TLS
    EXPECT_EQ(parse_request("GET / HTTP/1.1\nHost: x\n").error, ErrorKind::BadRequest);
    EXPECT_EQ(parse_request("GET / HTTP/1.1\r\nA: b\r\n folded").error, std::nullopt);
    EXPECT_EQ(parse_request("GET / HTTP/1.1\r\nA: b\r\n folded\r\n").error, ErrorKind::BadRequest);
}

TEST(RequestRefusal, HoldsTheLimits) {
    const HeadLimits limits{.bytes = 400, .line_bytes = 100, .fields = 4};
    const auto error = [&limits](const std::string& bytes, std::size_t cut = 0) {
        return parse_request(bytes, cut, limits).error;
    };
    const std::string line = "GET / HTTP/1.1\r\nHost: x\r\n";
    EXPECT_EQ(error("GET /" + std::string(86, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n"), std::nullopt);
    EXPECT_EQ(error("GET /" + std::string(87, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n"),
              ErrorKind::TargetTooLong);
    EXPECT_EQ(error("GET /" + std::string(98, 'a')), ErrorKind::TargetTooLong);
    EXPECT_EQ(error(line + "A: 1\r\nA: 2\r\nA: 3\r\n\r\n"), std::nullopt);
    EXPECT_EQ(error(line + "A: 1\r\nA: 2\r\nA: 3\r\nA: 4\r\n"), ErrorKind::HeaderTooLarge);
    const std::string fill = "A: " + std::string(400 - line.size() - 7, 'a') + "\r\n\r\n";
    EXPECT_EQ(error(line + fill), std::nullopt);
    EXPECT_EQ(error(line + "a" + fill), ErrorKind::HeaderTooLarge);
    EXPECT_EQ(error(line + "A: " + std::string(400, 'a')), ErrorKind::HeaderTooLarge);
    EXPECT_EQ(error(line + "A: " + std::string(400, 'a'), 30), ErrorKind::HeaderTooLarge);
    std::string empty_lines;
    for (int i = 0; i < 300; ++i) {
        empty_lines += "\r\n";
    }
    EXPECT_TRUE(error(empty_lines).has_value());
}

TEST(RequestRefusal, DoesNotCountTheBodyAgainstTheHeadsLimit) {
    const HeadLimits limits{.bytes = 100, .line_bytes = 50, .fields = 4};
    const std::string bytes =
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n" + std::string(1000, 'x');
    EXPECT_EQ(parse_request(bytes, 0, limits).error, std::nullopt);
}

}  // namespace
}  // namespace prefix_router::http
