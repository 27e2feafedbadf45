#include "admin/backend_requests.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "prefix_router/config/options.hpp"

namespace prefix_router::admin {
namespace {

using ::testing::HasSubstr;

TEST(BackendRequests, AreReadAsTheConfigurationIs) {
    const auto json = read_new_backend(R"({"url": "http://a:1", "weight": 2, "models": ["m"]})");
    const auto yaml = read_new_backend("url: http://a:1\nweight: 2\nmodels: [m]\n");
    ASSERT_TRUE(json.has_value()) << json.error().message();
    ASSERT_TRUE(yaml.has_value()) << yaml.error().message();
    EXPECT_EQ(*json, *yaml);
    EXPECT_EQ(json->id, config::default_backend_id(json->url));
    EXPECT_THAT(read_new_backend(R"({"url": "http://a:1", "wieght": 2})").error().message(),
                HasSubstr("did you mean 'weight'"));
    EXPECT_THAT(read_new_backend("{}").error().message(), HasSubstr("the url is missing"));
    EXPECT_TRUE(read_new_backend("\xff").has_error());
}

TEST(BackendRequests, NameNoFileAndNoVariable) {
    for (const char* field :
         {R"("authorization": "file:/etc/passwd")", R"("authorization": "env:HOME")",
          R"("tls": {"ca": "/etc/passwd"})"}) {
        const auto read = read_new_backend(std::string(R"({"url": "https://a:1", )") + field + "}");
        ASSERT_TRUE(read.has_error()) << field;
        EXPECT_THAT(read.error().message(), HasSubstr("from the configuration only"));
    }
}

TEST(BackendRequests, SetTheFieldsThatTheyName) {
    const auto wishes = read_wishes(R"({"capacity_tokens": "auto", "models": []})");
    ASSERT_TRUE(wishes.has_value()) << wishes.error().message();
    ASSERT_TRUE(wishes->capacity_tokens.has_value());
    EXPECT_EQ(*wishes->capacity_tokens, std::nullopt);
    EXPECT_EQ(wishes->models, std::vector<std::string>());
    EXPECT_EQ(wishes->weight, std::nullopt);
    EXPECT_EQ(in_words(*wishes), "capacity_tokens auto, models []");
    for (const char* bad : {"", "{}", "[]", "3", R"({"url": "http://a:1"})", R"({"weight": -1})",
                            R"({"weight": null})", R"({"capacity_tokens": 1})"}) {
        EXPECT_TRUE(read_wishes(bad).has_error()) << bad;
    }
}

TEST(BackendRequests, MayBeNestedAsDeeplyAsTheyLike) {
    const std::string open(2'000'000, '[');
    const std::string close(2'000'000, ']');
    EXPECT_TRUE(read_wishes(R"({"models": )" + open + close + "}").has_error());
    EXPECT_TRUE(read_wishes(open + close).has_error());
}

}  // namespace
}  // namespace prefix_router::admin
