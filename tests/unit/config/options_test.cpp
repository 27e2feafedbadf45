#include "prefix_router/config/options.hpp"

#include <fstream>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prefix_router::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Config defaults_with_one_backend() {
    Config config;
    config.backends.push_back(*backend_from_url("http://127.0.0.1:8000"));
    return config;
}

std::string content_of(const std::string& path) {
    std::ostringstream content;
    content << std::ifstream(path).rdbuf();
    return content.str();
}

TEST(ReferenceFile, LoadsIntoTheDefaults) {
    const Loaded loaded = load_file(PREFIX_ROUTER_REFERENCE_FILE);
    EXPECT_THAT(loaded.problems, IsEmpty());
    ASSERT_TRUE(loaded.config.has_value());
    EXPECT_EQ(*loaded.config, defaults_with_one_backend());
}

TEST(ReferenceFile, IsWhatTheOptionTablesWrite) {
    const std::string written = to_yaml(defaults_with_one_backend(), Comments::With);
    std::ofstream(PREFIX_ROUTER_WRITTEN_FILE) << written;
    EXPECT_EQ(content_of(PREFIX_ROUTER_REFERENCE_FILE), written)
        << "copy " << PREFIX_ROUTER_WRITTEN_FILE << " to config/prefix-router.yaml";
}

TEST(ReferenceFile, HoldsEveryOptionWithItsDefaultAndHelp) {
    const std::string text = content_of(PREFIX_ROUTER_REFERENCE_FILE);
    for (const OptionFacts& facts : describe_options()) {
        const std::string key = facts.name.substr(facts.name.rfind('.') + 1);
        const bool has_no_default = facts.default_value.empty() || facts.default_value == "\"\"";
        const std::string line = key + ": " + (has_no_default ? "" : facts.default_value);
        EXPECT_THAT(text, HasSubstr(line)) << facts.name;
        EXPECT_THAT(text, HasSubstr("# " + facts.help.substr(0, facts.help.find(' '))))
            << facts.name;
    }
}

TEST(ReferenceFile, HasNoLineBeyondAHundredColumns) {
    std::istringstream lines(content_of(PREFIX_ROUTER_REFERENCE_FILE));
    for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(line.size(), 100U) << line;
    }
}

TEST(OptionTables, HaveUniqueNamesHelpAndBounds) {
    std::set<std::string> names;
    for (const OptionFacts& facts : describe_options()) {
        EXPECT_TRUE(names.insert(facts.name).second) << facts.name;
        EXPECT_TRUE(facts.help.ends_with('.')) << facts.name;
        EXPECT_NE(facts.accepts, "") << facts.name;
    }
    EXPECT_GT(names.size(), 40U);
}

TEST(OptionTables, ReadBackWhatTheyWrite) {
    Config config = defaults_with_one_backend();
    config.listen = ListenAddress{"::1", 80};
    config.admin.reset();
    config.threads = 7;
    config.backends[0].models = {"null", "a \"quoted\" \\ name", "- dash", "x: y",
                                 "#no",  "line\nbreak"};
    config.backends[0].capacity_tokens = 123'456;
    config.backends[0].lanes = 1.5;
    config.backends.push_back(*backend_from_url("unix:/run/with space.sock"));
    config.backends.push_back(*backend_from_url("https://engine:8443/v1"));
    config.backends[2].tls.verify = false;
    config.backends[2].tls.ca = "/etc/ssl/own ca.pem";
    config.backends[2].tls.server_name = "engine.internal";
    config.backends[2].tls.client_certificate = "/c.pem";
    config.backends[2].tls.client_key = "/k.pem";
    config.tls.certificate = "/etc/tls/cert.pem";
    config.tls.key = "/etc/tls/key.pem";
    config.tls.min_version = TlsVersion::Tls13;
    config.tls.client_ca = "/etc/tls/clients.pem";
    config.routing.strategy = Strategy::LeastOutstandingRequests;
    config.routing.hold.reset();
    config.routing.hash_seed = 0;
    config.routing.hold_age = 0.333;
    config.timeouts.total = milliseconds{1'234'567};
    config.health.path = "/ping?x=[1]";
    config.limits.body_bytes = 12'345;
    config.log.format = LogFormat::Json;
    config.log.access = "/var/log/a b.log";
    for (const auto comments : {Comments::With, Comments::Without}) {
        const Loaded loaded = load_text(to_yaml(config, comments), "f");
        for (const Problem& problem : loaded.problems) {
            ADD_FAILURE() << to_string(problem);
        }
        ASSERT_TRUE(loaded.config.has_value());
        EXPECT_EQ(*loaded.config, config);
    }
}

TEST(Reload, NamesTheOptionsThatNeedARestart) {
    const Config running = defaults_with_one_backend();
    EXPECT_THAT(options_needing_restart(running, running), IsEmpty());
    Config next = running;
    next.routing.expose_decision = true;
    next.api_keys.emplace_back();
    next.timeouts.connect = milliseconds{1};
    next.backends.clear();
    EXPECT_THAT(options_needing_restart(running, next), IsEmpty());
    EXPECT_THAT(live_options_changed(running, next),
                ElementsAre("api_keys", "routing.expose_decision", "timeouts.connect"));
    next.routing.strategy = Strategy::Random;
    next.listen.port = 1;
    next.threads = 2;
    next.routing.hash_seed = 1;
    next.limits.prefix_map_bytes *= 2;
    EXPECT_THAT(options_needing_restart(running, next),
                ElementsAre("listen", "threads", "routing.strategy", "routing.hash_seed",
                            "limits.prefix_map_bytes"));
}

}  // namespace
}  // namespace prefix_router::config
