#include "prefix_router/http/error_answer.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/http/feeding.hpp"

namespace prefix_router::http {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ErrorAnswer, IsAWholeAnswerInTheShapeOfOpenAi) {
    EXPECT_EQ(error_answer(Error(ErrorKind::BadResponse, "it broke"),
                           {.request_id = "r", .keeps_alive = true}),
              "HTTP/1.1 502 Bad Gateway\r\nContent-Type: application/json\r\nContent-Length: 83\r\n"
              "X-Request-Id: r\r\n\r\n"
              "{\"error\": {\"message\": \"it broke\", \"type\": \"server_error\", \"code\": "
              "\"bad_response\"}}\n");
}

TEST(ErrorAnswer, MapsEveryKindToItsStatus) {
    const std::pair<ErrorKind, unsigned> rows[] = {
        {ErrorKind::BadRequest, 400},
        {ErrorKind::ServerControl, 403},
        {ErrorKind::RequestHeaderTimeout, 408},
        {ErrorKind::RequestBodyTimeout, 408},
        {ErrorKind::BodyTooLarge, 413},
        {ErrorKind::TargetTooLong, 414},
        {ErrorKind::ExpectationFailed, 417},
        {ErrorKind::HeaderTooLarge, 431},
        {ErrorKind::UnknownCoding, 501},
        {ErrorKind::ClientGone, 499},
        {ErrorKind::ClientStalled, 499},
        {ErrorKind::NoBackend, 503},
        {ErrorKind::Overloaded, 503},
        {ErrorKind::Draining, 503},
        {ErrorKind::OutOfDescriptors, 503},
        {ErrorKind::TotalTimeout, 504},
        {ErrorKind::ConnectRefused, 503},
        {ErrorKind::ConnectFailed, 503},
        {ErrorKind::ConnectTimeout, 504},
        {ErrorKind::ResetBeforeResponse, 502},
        {ErrorKind::ResetMidResponse, 502},
        {ErrorKind::BadResponse, 502},
        {ErrorKind::FirstByteTimeout, 504},
        {ErrorKind::IdleTimeout, 504},
        {ErrorKind::QueueFull, 503},
        {ErrorKind::QueueDisplaced, 503},
        {ErrorKind::QueueTimeout, 503},
        {ErrorKind::DeadlineExceeded, 504},
        {ErrorKind::InvalidApiKey, 401},
        {ErrorKind::ModelForbidden, 403},
        {ErrorKind::RateLimited, 429},
        {ErrorKind::TlsFailed, 400},
        {ErrorKind::TlsTimeout, 408},
        {ErrorKind::BackendTlsFailed, 502},
        {ErrorKind::BackendTlsTimeout, 504},
        {ErrorKind::BackendCertificate, 502},
        {ErrorKind::InvalidConfiguration, 500},
        {ErrorKind::Io, 500},
    };
    for (const auto& [kind, status] : rows) {
        EXPECT_EQ(status_of(kind), status) << to_string(kind);
        const std::string answer = error_answer(Error(kind), {.keeps_alive = true});
        const ParsedResponse parsed = parse_response(answer);
        ASSERT_FALSE(parsed.error) << answer;
        EXPECT_EQ(parsed.head.status(), status);
        EXPECT_EQ(answer.size(), parsed.size + parsed.head.content_length()) << answer;
        EXPECT_EQ(parsed.head.backend_keeps_alive(), !ends_connection(kind)) << answer;
        EXPECT_THAT(answer, Not(HasSubstr("\"message\": \"\"")));
    }
}

TEST(ErrorAnswer, ClosesAfterRequestsWhoseEndIsUnknownAndKeepsOpenAfterBackendFailures) {
    for (const ErrorKind kind : {ErrorKind::BadRequest, ErrorKind::BodyTooLarge,
                                 ErrorKind::HeaderTooLarge, ErrorKind::UnknownCoding}) {
        EXPECT_THAT(error_answer(Error(kind), {.keeps_alive = true}),
                    HasSubstr("\r\nConnection: close\r\n"));
    }
    for (const ErrorKind kind : {ErrorKind::NoBackend, ErrorKind::ConnectRefused}) {
        EXPECT_THAT(error_answer(Error(kind), {.keeps_alive = true}),
                    Not(HasSubstr("Connection: close")));
        EXPECT_THAT(error_answer(Error(kind), {.keeps_alive = false}),
                    HasSubstr("\r\nConnection: close\r\n"));
    }
}

TEST(ErrorAnswer, BoundsRetryAfterAndSendsItOnlyWhenARetryHelps) {
    const auto answer = [](ErrorKind kind, int seconds) {
        return error_answer(Error(kind), {.retry_after = std::chrono::seconds(seconds)});
    };
    EXPECT_THAT(answer(ErrorKind::Overloaded, 7), HasSubstr("\r\nRetry-After: 7\r\n"));
    EXPECT_THAT(answer(ErrorKind::NoBackend, 0), HasSubstr("\r\nRetry-After: 1\r\n"));
    EXPECT_THAT(answer(ErrorKind::NoBackend, 9999), HasSubstr("\r\nRetry-After: 60\r\n"));
    EXPECT_THAT(answer(ErrorKind::RateLimited, 900), HasSubstr("\r\nRetry-After: 900\r\n"));
    EXPECT_THAT(answer(ErrorKind::RateLimited, 9999), HasSubstr("\r\nRetry-After: 3600\r\n"));
    EXPECT_THAT(answer(ErrorKind::BadResponse, 7), Not(HasSubstr("Retry-After")));
}

TEST(ErrorAnswer, SpeaksAnthropicsWordsOnItsPaths) {
    EXPECT_EQ(error_shape_of("/v1/messages"), ErrorShape::Anthropic);
    EXPECT_EQ(error_shape_of("/v1/messages/count_tokens"), ErrorShape::Anthropic);
    EXPECT_EQ(error_shape_of("/v1/messages2"), ErrorShape::OpenAi);
    EXPECT_THAT(
        error_answer(Error(ErrorKind::RateLimited, "slow down"), {.shape = ErrorShape::Anthropic}),
        HasSubstr("\r\n\r\n{\"type\": \"error\", \"error\": {\"message\": \"slow down\", "
                  "\"type\": \"rate_limit_error\", \"code\": \"rate_limited\"}}\n"));
    EXPECT_THAT(error_answer(Error(ErrorKind::InvalidApiKey), {}),
                HasSubstr("\r\nWWW-Authenticate: Bearer\r\n"));
}

TEST(ErrorAnswer, SpeaksOllamasWordsOnItsPaths) {
    EXPECT_EQ(error_shape_of("/api/chat"), ErrorShape::Ollama);
    EXPECT_EQ(error_shape_of("/api"), ErrorShape::OpenAi);
    EXPECT_THAT(
        error_answer(Error(ErrorKind::QueueFull, "too many"), {.shape = ErrorShape::Ollama}),
        HasSubstr("\r\n\r\n{\"error\": \"too many\", \"code\": \"queue_full\"}\n"));
}

TEST(ErrorAnswer, HasNoBodyForHeadButItsLength) {
    const std::string whole = error_answer(Error(ErrorKind::NoBackend), {});
    const std::string head = error_answer(Error(ErrorKind::NoBackend), {.is_head = true});
    EXPECT_TRUE(head.ends_with("\r\n\r\n"));
    EXPECT_TRUE(whole.starts_with(head));
}

TEST(ErrorAnswer, EscapesItsMessage) {
    EXPECT_THAT(error_answer(Error(ErrorKind::Io, "a\"b\\c\r\n\xff"), {}),
                HasSubstr(R"("message": "a\"b\\c\u000d\u000a\u00ff")"));
}

}  // namespace
}  // namespace prefix_router::http
