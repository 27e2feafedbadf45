#include "prefix_router/tracing/trace_context.hpp"

#include <gtest/gtest.h>

namespace prefix_router::tracing {
namespace {

const std::string kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string kSpan = "00f067aa0ba902b7";

TEST(TraceContext, IsReadAndWrittenAlike) {
    for (const std::string flags : {"00", "01", "02", "03"}) {
        const std::string text = "00-" + kTrace + "-" + kSpan + "-" + flags;
        const auto context = parse_traceparent(text);
        ASSERT_TRUE(context) << text;
        EXPECT_EQ(to_traceparent(*context), text);
        EXPECT_EQ(context->is_sampled(), flags == "01" || flags == "03");
    }
}

TEST(TraceContext, OfALaterVersionIsReadAsFarAsItIsKnown) {
    const auto context = parse_traceparent("cc-" + kTrace + "-" + kSpan + "-01-what-is-more");
    ASSERT_TRUE(context);
    EXPECT_EQ(to_traceparent(*context), "00-" + kTrace + "-" + kSpan + "-01");
    EXPECT_TRUE(parse_traceparent("cc-" + kTrace + "-" + kSpan + "-01"));
    EXPECT_FALSE(parse_traceparent("cc-" + kTrace + "-" + kSpan + "-01.more"));
}

TEST(TraceContext, KeepsNoFlagThatItDoesNotKnow) {
    const auto context = parse_traceparent("00-" + kTrace + "-" + kSpan + "-ff");
    ASSERT_TRUE(context);
    EXPECT_EQ(context->flags, 0x03);
}

TEST(TraceContext, ThatIsMalformedIsNone) {
    const std::string zeros(32, '0');
    for (const std::string& text :
         {std::string(), std::string("00"), "00-" + kTrace + "-" + kSpan,
          "00-" + kTrace + "-" + kSpan + "-1", "00-" + kTrace + "-" + kSpan + "-01-more",
          "ff-" + kTrace + "-" + kSpan + "-01", "00-" + zeros + "-" + kSpan + "-01",
          "00-" + kTrace + "-" + zeros.substr(16) + "-01", "00_" + kTrace + "-" + kSpan + "-01",
          "0g-" + kTrace + "-" + kSpan + "-01", "00-" + kTrace + "-" + kSpan + "-0x",
          "00-4BF92F3577B34DA6A3CE929D0E0E4736-" + kSpan + "-01"}) {
        EXPECT_FALSE(parse_traceparent(text)) << text;
    }
}

TEST(TraceContext, IdsAreNeverZeroAndDiffer) {
    Random random(3);
    const TraceId one = make_trace_id(random);
    EXPECT_NE(one, make_trace_id(random));
    EXPECT_NE(one, TraceId{});
    EXPECT_NE(make_span_id(random), make_span_id(random));
}

}  // namespace
}  // namespace prefix_router::tracing
