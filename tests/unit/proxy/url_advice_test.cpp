#include "prefix_router/proxy/url_advice.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prefix_router::proxy {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

std::string advice(const std::string& url) {
    return advice_on(*config::parse_backend_url(url)).value_or("");
}

TEST(UrlAdvice, SaysThatClientsSendTheVersionThemselves) {
    const std::string said = advice("http://host:8000/v1");
    EXPECT_THAT(said, HasSubstr("'http://host:8000/v1'"));
    EXPECT_THAT(said, HasSubstr("/v1/v1/models"));
    EXPECT_THAT(said, EndsWith("; write http://host:8000"));
    EXPECT_THAT(advice("https://host/v1/"), EndsWith("; write https://host"));
}

TEST(UrlAdvice, SaysSoForEveryPathThatIsAskedFor) {
    for (const auto* path :
         {"/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/messages", "/v1/models",
          "/v1/embeddings", "/invocations", "/generate", "/generate_stream", "/completion",
          "/api/chat", "/api/generate", "/chat/completions", "/completions", "/health", "/ping",
          "/metrics"}) {
        EXPECT_THAT(advice(std::string("http://host:8000") + path),
                    EndsWith("write http://host:8000"))
            << path;
    }
}

TEST(UrlAdvice, LeavesTheRestOfABasePath) {
    EXPECT_THAT(advice("http://host:8000/openai/v1"), EndsWith("; write http://host:8000/openai"));
}

TEST(UrlAdvice, HasNothingToSayAboutOtherPaths) {
    for (const auto* url :
         {"http://host:8000", "http://host:8000/", "http://host/engine-a",
          "http://host/v1/engine-a", "http://host/apiv1", "http://host/api", "unix:/run/v1"}) {
        EXPECT_EQ(advice(url), "") << url;
    }
}

}  // namespace
}  // namespace prefix_router::proxy
