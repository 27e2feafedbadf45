#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "prefix_router/config/options.hpp"

namespace prefix_router::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kOneBackend = "backends: [{url: 'http://127.0.0.1:8000'}]\n";
const std::string kHash(64, 'a');

std::vector<std::string> problems_of(const std::string& yaml) {
    std::vector<std::string> lines;
    for (const Problem& problem : load_text(kOneBackend + yaml, "f").problems) {
        lines.push_back(to_string(problem));
    }
    return lines;
}

TEST(ApiKeyOptions, AreRead) {
    const Loaded read =
        load_text(kOneBackend + "api_keys:\n  - name: a\n    sha256: '" + std::string(64, 'A') +
                      "'\n    priority: low\n    models: [m]\n"
                      "    requests_per_second: 0.5\n    burst: 3\n",
                  "f");
    ASSERT_TRUE(read.config.has_value());
    ApiKey expected;
    expected.name = "a";
    expected.sha256 = kHash;
    expected.priority = Priority::Low;
    expected.models = {"m"};
    expected.requests_per_second = 0.5;
    expected.burst = 3;
    EXPECT_EQ(read.config->api_keys, std::vector{expected});
}

TEST(ApiKeyOptions, AreNamedWhenTheyAreMissingOrTwice) {
    EXPECT_THAT(problems_of("api_keys: [{name: a}]\n"),
                ElementsAre(HasSubstr("api_keys[0]: name and sha256 are required")));
    EXPECT_THAT(problems_of("api_keys: [{name: a, sha256: '" + kHash + "'}, {name: a, sha256: '" +
                            kHash + "'}]\n"),
                ElementsAre(HasSubstr("another key has the name 'a'"),
                            HasSubstr("another entry has the same sha256")));
    EXPECT_THAT(problems_of("api_keys: {name: a}\n"), ElementsAre(HasSubstr("must be a list")));
}

TEST(ApiKeyOptions, ASecretInTheWrongPlaceIsNotRepeated) {
    const std::string secret = "sk-live-0123456789";
    for (const std::string& yaml :
         {"api_keys: [{name: a, sha256: " + secret + "}]\n", "admin_token_sha256: " + secret + "\n",
          "backends: [{url: 'http://a:1', authorization: Bearer " + secret + "}]\n"}) {
        const std::vector<std::string> problems = problems_of(yaml);
        EXPECT_THAT(problems, Not(IsEmpty())) << yaml;
        for (const std::string& problem : problems) {
            EXPECT_THAT(problem, Not(HasSubstr(secret)));
        }
    }
}

TEST(Authorization, IsAWordOrThePlaceOfASecret) {
    const auto read = [](const std::string& text) {
        return load_text("backends: [{url: 'http://a:1', authorization: '" + text + "'}]\n", "f");
    };
    using Kind = BackendAuthorization::Kind;
    const std::pair<const char*, BackendAuthorization> cases[] = {
        {"auto", {Kind::Auto, ""}},
        {"pass", {Kind::Pass, ""}},
        {"remove", {Kind::Remove, ""}},
        {"env:VLLM_KEY", {Kind::Environment, "VLLM_KEY"}},
        {"file:/run/k", {Kind::File, "/run/k"}},
    };
    for (const auto& [text, expected] : cases) {
        const Loaded loaded = read(text);
        ASSERT_TRUE(loaded.config.has_value()) << text;
        EXPECT_EQ(loaded.config->backends[0].authorization, expected) << text;
    }
    for (const auto* text : {"env:", "env:A B", "file:k", "Bearer x", ""}) {
        EXPECT_FALSE(read(text).config.has_value()) << text;
    }
}

TEST(AdminTokens, HaveNamesAndHashesOfTheirOwn) {
    const std::string other(64, 'b');
    const Loaded read = load_text(kOneBackend + "admin_tokens: [{name: ada, sha256: '" + kHash +
                                      "'}, {name: grace, sha256: '" + other + "'}]\n",
                                  "f");
    ASSERT_TRUE(read.config.has_value());
    EXPECT_EQ(read.config->admin_tokens,
              (std::vector<AdminToken>{{"ada", kHash}, {"grace", other}}));
    EXPECT_EQ(load_text(to_yaml(*read.config, Comments::With), "f").config, read.config);
    EXPECT_THAT(problems_of("admin_tokens: [{name: a}]\n"),
                ElementsAre(HasSubstr("admin_tokens[0]: name and sha256 are required")));
    for (const std::string& entry :
         {"{name: admin, sha256: '" + other + "'}", "{name: ada, sha256: '" + kHash + "'}"}) {
        EXPECT_THAT(
            problems_of("admin_token_sha256: '" + kHash + "'\nadmin_tokens: [" + entry + "]\n"),
            ElementsAre(HasSubstr("is also admin_token_sha256")));
    }
}

}  // namespace
}  // namespace prefix_router::config
