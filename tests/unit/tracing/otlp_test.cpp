#include "tracing/otlp.hpp"

#include <chrono>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace prefix_router::tracing {
namespace {

using nlohmann::json;

const Service kService{"router", "1.2.3", "abc"};

Span some_span() {
    Span span;
    span.context =
        parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").value();
    span.parent = SpanId{1, 2, 3, 4, 5, 6, 7, 255};
    span.trace_state = "a=b";
    span.name = "POST /v1/chat/completions";
    span.start = std::chrono::nanoseconds(1'800'000'000'123'456'789);
    span.end = span.start + std::chrono::nanoseconds(1);
    span.attributes = {{"text", std::string("word")}, {"count", std::int64_t{-7}}, {"time", 0.5}};
    return span;
}

json encoded(const Span& span) {
    return json::parse(encode_spans(kService, {&span, 1}));
}

TEST(Otlp, IsTheJsonEncodingOfTheProtocol) {
    const json request = encoded(some_span());
    const json& resource = request["resourceSpans"][0];
    EXPECT_EQ(resource["resource"]["attributes"][0],
              json::parse(R"({"key": "service.name", "value": {"stringValue": "router"}})"));
    const json& span = resource["scopeSpans"][0]["spans"][0];
    const json expected = json::parse(R"({
        "traceId": "4bf92f3577b34da6a3ce929d0e0e4736", "spanId": "00f067aa0ba902b7",
        "parentSpanId": "01020304050607ff", "traceState": "a=b", "flags": 1,
        "name": "POST /v1/chat/completions", "kind": 2,
        "startTimeUnixNano": "1800000000123456789", "endTimeUnixNano": "1800000000123456790",
        "attributes": [{"key": "text", "value": {"stringValue": "word"}},
                       {"key": "count", "value": {"intValue": "-7"}},
                       {"key": "time", "value": {"doubleValue": 0.5}}],
        "status": {}})");
    EXPECT_EQ(span, expected);
}

TEST(Otlp, SaysWhatARootAndAFailureAre) {
    Span span = some_span();
    span.parent.reset();
    span.has_failed = true;
    const json request = encoded(span);
    const json& sent = request["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
    EXPECT_FALSE(sent.contains("parentSpanId"));
    EXPECT_EQ(sent["status"]["code"], 2);
}

TEST(Otlp, IsValidWhateverAClientSent) {
    Span span = some_span();
    span.attributes = {{"gen_ai.request.model", std::string("\xff\xfe\"\n\x01")}};
    EXPECT_FALSE(encoded(span).is_discarded());
}

TEST(Otlp, ReadsWhatTheCollectorDidNotTake) {
    EXPECT_EQ(rejected_spans(R"({"partialSuccess": {"rejectedSpans": "3"}})"), 3U);
    EXPECT_EQ(rejected_spans(R"({"partialSuccess": {"rejectedSpans": 4}})"), 4U);
    for (const char* answer :
         {"", "{}", "[]", "nonsense", R"({"partialSuccess": {}})", R"({"partialSuccess": 7})",
          R"({"partialSuccess": {"rejectedSpans": "-1"}})",
          R"({"partialSuccess": {"rejectedSpans": "99999999999999999999"}})"}) {
        EXPECT_EQ(rejected_spans(answer), 0U) << answer;
    }
}

}  // namespace
}  // namespace prefix_router::tracing
