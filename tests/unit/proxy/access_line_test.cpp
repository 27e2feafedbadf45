#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "prefix_router/proxy/access_log.hpp"

namespace prefix_router::proxy {
namespace {

using std::chrono::microseconds;

RequestRecord sample() {
    RequestRecord record;
    record.request_id = "abc123";
    record.peer = "10.0.0.1";
    record.method = "POST";
    record.path = "/v1/chat/completions";
    record.status = 200;
    record.backend = "b1";
    record.reason = routing::Reason::Warm;
    record.prompt_tokens = 900;
    record.expected_cached = 512;
    record.reported_cached = 496;
    record.expected_first_token = microseconds(1500);
    record.first_token = microseconds(1234);
    record.duration = microseconds(2'000'005);
    record.bytes_in = 4000;
    record.bytes_out = 77;
    record.attempts = 1;
    return record;
}

std::string line_of(LogFormat format, const RequestRecord& record) {
    std::string out;
    append_access_line(format, "2026-11-30T12:00:00.000Z", record, out);
    return out;
}

TEST(AccessLine, TellsOneRequestAsText) {
    EXPECT_EQ(line_of(LogFormat::Text, sample()),
              "time=2026-11-30T12:00:00.000Z request_id=abc123 peer=10.0.0.1 method=POST "
              "path=/v1/chat/completions status=200 duration_ms=2000.005 "
              "expected_first_token_ms=1.500 first_token_ms=1.234 "
              "backend=b1 reason=warm prompt_tokens=900 expected_cached_tokens=512 "
              "reported_cached_tokens=496 attempts=1 bytes_in=4000 bytes_out=77\n");
}

TEST(AccessLine, TellsTheSameAsJson) {
    RequestRecord record = sample();
    record.error = ErrorKind::ResetMidResponse;
    record.held = microseconds(250'000);
    const auto line = nlohmann::json::parse(line_of(LogFormat::Json, record));
    EXPECT_EQ(line["path"], "/v1/chat/completions");
    EXPECT_EQ(line["status"], 200);
    EXPECT_DOUBLE_EQ(line["first_token_ms"].get<double>(), 1.234);
    EXPECT_DOUBLE_EQ(line["expected_first_token_ms"].get<double>(), 1.5);
    EXPECT_DOUBLE_EQ(line["held_ms"].get<double>(), 250.0);
    EXPECT_EQ(line["error"], "reset_mid_response");
    EXPECT_EQ(line["reason"], "warm");
}

TEST(AccessLine, LeavesOutWhatIsNotKnown) {
    RequestRecord record;
    record.method = "GET";
    record.path = "/";
    record.status = 400;
    EXPECT_EQ(
        line_of(LogFormat::Text, record),
        "time=2026-11-30T12:00:00.000Z request_id=\"\" peer=\"\" method=GET path=/ status=400 "
        "duration_ms=0.000 attempts=0 bytes_in=0 bytes_out=0\n");
}

TEST(AccessLine, CannotBeForgedByAClient) {
    RequestRecord record = sample();
    record.path = "/x\r\nstatus=200 path=\"/y\"";
    record.request_id = std::string_view("a\0b\x1b[31m", 8);
    for (const LogFormat format : {LogFormat::Text, LogFormat::Json}) {
        const std::string line = line_of(format, record);
        EXPECT_EQ(line.find('\n'), line.size() - 1);
        EXPECT_EQ(line.find('\r'), std::string::npos);
        EXPECT_EQ(line.find('\x1b'), std::string::npos);
    }
    EXPECT_EQ(nlohmann::json::parse(line_of(LogFormat::Json, record))["status"], 200);
}

TEST(AccessLine, BoundsWhatAClientSends) {
    RequestRecord record = sample();
    const std::string path(100'000, 'x');
    record.path = path;
    EXPECT_LT(line_of(LogFormat::Text, record).size(), 1000U);
}

}  // namespace
}  // namespace prefix_router::proxy
