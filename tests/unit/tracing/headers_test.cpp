#include "prefix_router/tracing/headers.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace prefix_router::tracing {
namespace {

TEST(CollectorHeaders, AreReadAsOpenTelemetryHasThem) {
    const auto headers = parse_headers("authorization=Bearer%20KEY%3d, x-team = search");
    ASSERT_TRUE(headers);
    EXPECT_EQ(*headers, (std::vector<std::string>{"authorization: Bearer KEY=", "x-team: search"}));
}

TEST(CollectorHeaders, ThatAreNoneAreRefusedWithoutTheirValues) {
    for (const std::string text : {"", "secret", "=secret", "a b=secret", "a=secret%0d%0ab: c",
                                   "a=secret%2", "a=secret%zz", "a=", "a=x,,b=y"}) {
        const auto headers = parse_headers(text);
        ASSERT_FALSE(headers) << text;
        EXPECT_EQ(headers.error().message().find("secret"), std::string::npos);
    }
}

TEST(CollectorHeaders, ComeFromTheEnvironment) {
    ::setenv("PREFIX_ROUTER_TEST_HEADERS", "x-key=one", 1);
    const config::SecretSource there{config::SecretSource::Kind::Environment,
                                     "PREFIX_ROUTER_TEST_HEADERS"};
    EXPECT_EQ(load_headers(there).value(), std::vector<std::string>{"x-key: one"});
    const config::SecretSource nowhere{config::SecretSource::Kind::File, "/nonexistent/headers"};
    EXPECT_NE(load_headers(nowhere).error().message().find("/nonexistent/headers"),
              std::string::npos);
}

}  // namespace
}  // namespace prefix_router::tracing
