#include <cstdio>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "prefix_router/config/options.hpp"

namespace prefix_router::config {
namespace {

using std::chrono::hours;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

const std::string kOneBackend = "backends: [{url: 'http://127.0.0.1:8000'}]\n";

std::vector<std::string> problems_of(const std::string& yaml) {
    std::vector<std::string> lines;
    for (const Problem& problem : load_text(yaml, "f").problems) {
        lines.push_back(to_string(problem));
    }
    return lines;
}

Config loaded(const std::string& yaml) {
    const Loaded result = load_text(yaml, "f");
    EXPECT_THAT(problems_of(yaml), IsEmpty());
    return result.config.value_or(Config{});
}

TEST(Load, ABackendAloneGivesTheDefaults) {
    Config expected;
    expected.backends.push_back(*backend_from_url("http://127.0.0.1:8000"));
    EXPECT_EQ(loaded(kOneBackend), expected);
}

TEST(Load, EverySectionIsRead) {
    const Config config = loaded(R"(
listen: "[::1]:8080"
admin: off
threads: 3
backends:
  - url: http://a:8000/base
    id: a-1
    models: [m1, "m 2"]
    weight: 2.5
    capacity_tokens: 500000
    lanes: 4
  - url: unix:/run/b.sock
routing:
  strategy: prefix_aware
  prefix_length: 1024
  concurrency_threshold: 1
  expose_decision: true
  hash_seed: 18446744073709551615
  hold_small: 0
  hold_age: 0.25
health: {path: /ping, interval: 5s, failures: 1, scrape_interval: 0}
timeouts: {total: 1h, drain_grace: 0}
retry: {budget: 0}
limits: {body_bytes: 1MiB, connections: 10}
log: {level: debug, format: json, access: /var/log/access.log}
)");
    EXPECT_EQ(config.listen, (ListenAddress{"::1", 8080}));
    EXPECT_FALSE(config.admin.has_value());
    EXPECT_EQ(config.threads, 3U);
    ASSERT_THAT(config.backends, SizeIs(2));
    EXPECT_EQ(config.backends[0].id, "a-1");
    EXPECT_EQ(config.backends[0].url.base_path, "/base");
    EXPECT_THAT(config.backends[0].models, ElementsAre("m1", "m 2"));
    EXPECT_EQ(config.backends[0].weight, 2.5);
    EXPECT_EQ(config.backends[0].capacity_tokens, Tokens{500'000});
    EXPECT_EQ(config.backends[0].lanes, 4.0);
    EXPECT_EQ(config.backends[1].url.unix_path, "/run/b.sock");
    EXPECT_EQ(config.routing.strategy, Strategy::PrefixAware);
    EXPECT_EQ(config.routing.prefix_length, 1024U);
    EXPECT_EQ(config.routing.concurrency_threshold, 1U);
    EXPECT_TRUE(config.routing.expose_decision);
    EXPECT_EQ(config.routing.hash_seed, ~std::uint64_t{0});
    EXPECT_EQ(config.routing.hold_small, milliseconds{0});
    EXPECT_EQ(config.routing.hold_age, 0.25);
    EXPECT_EQ(config.health.path, "/ping");
    EXPECT_EQ(config.health.interval, milliseconds{5000});
    EXPECT_EQ(config.health.scrape_interval, milliseconds{0});
    EXPECT_EQ(config.timeouts.total, hours{1});
    EXPECT_EQ(config.timeouts.drain_grace, milliseconds{0});
    EXPECT_EQ(config.retry.budget, 0.0);
    EXPECT_EQ(config.limits.body_bytes, std::size_t{1} << 20);
    EXPECT_EQ(config.log.level, "debug");
    EXPECT_EQ(config.log.format, LogFormat::Json);
    EXPECT_EQ(config.log.access, "/var/log/access.log");
}

TEST(Load, HoldIsAutoOffOrADuration) {
    const auto hold = [](const std::string& value) {
        return loaded(kOneBackend + "routing: {hold: " + value + "}\n").routing.hold;
    };
    EXPECT_EQ(hold("auto"), milliseconds{0});
    EXPECT_EQ(hold("off"), std::nullopt);
    EXPECT_EQ(hold("500ms"), milliseconds{500});
    EXPECT_THAT(problems_of(kOneBackend + "routing: {hold: 0}\n"),
                ElementsAre(AllOf(HasSubstr("f:2: routing.hold: '0' is out of range"),
                                  HasSubstr("auto"), HasSubstr("off"))));
}

TEST(Load, HeadersOfTheQueueAreOffOrNames) {
    const Config config = loaded(kOneBackend +
                                 "queue: {priority_header: X-Priority, tenant_header: off, "
                                 "deadline_header: X-Stainless-Timeout, deadline_unit: ms}\n");
    EXPECT_EQ(config.queue.priority_header, "X-Priority");
    EXPECT_EQ(config.queue.tenant_header, std::nullopt);
    EXPECT_EQ(config.queue.deadline_header, "X-Stainless-Timeout");
    EXPECT_EQ(config.queue.deadline_unit, DeadlineUnit::Milliseconds);
    for (const std::string bad : {"'a b'", "''", "'a:'", "Host", "transfer-encoding"}) {
        EXPECT_THAT(problems_of(kOneBackend + "queue: {tenant_header: " + bad + "}\n"),
                    ElementsAre(AllOf(HasSubstr("queue.tenant_header"), HasSubstr("off"))))
            << bad;
    }
}

TEST(Load, BackendsTakeTheLimitOfAllUnlessTheySayTheirOwn) {
    const Config config = loaded(
        "backends:\n"
        "  - {url: 'http://a:1', max_in_flight: 4}\n"
        "  - {url: 'http://b:1', max_in_flight: default}\n"
        "limits: {max_in_flight_per_backend: 8}\n");
    EXPECT_EQ(config.backends[0].max_in_flight, 4U);
    EXPECT_EQ(config.backends[1].max_in_flight, std::nullopt);
    EXPECT_EQ(config.limits.max_in_flight_per_backend, 8U);
    EXPECT_EQ(loaded(kOneBackend).limits.max_in_flight_per_backend, std::nullopt);
    EXPECT_THAT(problems_of(kOneBackend + "limits: {max_in_flight_per_backend: 0}\n"),
                ElementsAre(AllOf(HasSubstr("out of range"), HasSubstr("none"))));
}

TEST(Load, TheQueueHasBoundsOfNumberBytesAndTime) {
    const Config config = loaded(kOneBackend +
                                 "queue: {max_requests: 0, max_bytes: 128MiB, max_wait: 0, "
                                 "max_wait_high: 2s, max_wait_low: same}\n");
    EXPECT_EQ(config.queue.max_requests, 0U);
    EXPECT_EQ(config.queue.max_bytes, std::size_t{128} << 20);
    EXPECT_EQ(config.queue.max_wait, milliseconds{0});
    EXPECT_EQ(config.queue.max_wait_high, milliseconds{2000});
    EXPECT_EQ(config.queue.max_wait_low, std::nullopt);
    EXPECT_EQ(loaded(kOneBackend + "queue: {max_bytes: auto}\n").queue.max_bytes, 0U);
}

TEST(Load, ABodyThatCouldNeverWaitIsAMistake) {
    EXPECT_THAT(
        problems_of(kOneBackend + "queue: {max_bytes: 1MiB}\n"),
        ElementsAre(AllOf(HasSubstr("f:2: queue.max_bytes"), HasSubstr("limits.body_bytes"))));
}

TEST(Load, PrioritiesAreWords) {
    EXPECT_EQ(parse_priority("high"), Priority::High);
    EXPECT_EQ(parse_priority("Normal"), Priority::Normal);
    EXPECT_EQ(parse_priority("LOW"), Priority::Low);
    EXPECT_EQ(parse_priority("urgent"), std::nullopt);
    EXPECT_EQ(parse_priority(""), std::nullopt);
    for (const auto priority : {Priority::High, Priority::Normal, Priority::Low}) {
        EXPECT_EQ(parse_priority(to_string(priority)), priority);
    }
}

TEST(Load, EmptySectionsKeepTheirDefaults) {
    EXPECT_EQ(loaded(kOneBackend + "routing:\nlog:\n"), loaded(kOneBackend));
}

TEST(Load, ReportsEveryProblemInTheOrderOfTheLines) {
    EXPECT_THAT(problems_of("rooting: {}\n"
                            "listen: nowhere\n"
                            "routing:\n"
                            "  strategie: random\n"
                            "  prefix_length: 0\n"
                            "log: {level: loud}\n"
                            "backends:\n"
                            "  - url: ftp://a:1\n"
                            "  - id: b\n"),
                ElementsAre("f:1: unknown key 'rooting' in the top level; did you mean 'routing'?",
                            HasSubstr("f:2: listen: 'nowhere' is no address to listen on"),
                            "f:4: unknown key 'strategie' in routing; did you mean 'strategy'?",
                            "f:5: routing.prefix_length: '0' is out of range; write a whole number "
                            "from 1024 to 65536",
                            "f:6: log.level: 'loud' is not known; write trace, debug, info, warn, "
                            "error or off",
                            HasSubstr("f:8: backends[0].url: backend URL 'ftp://a:1'"),
                            HasSubstr("f:9: backends[1]: the url is missing")));
}

TEST(Load, TlsFilesGoTogetherAndNeedAnHttpsUrl) {
    EXPECT_THAT(problems_of(kOneBackend + "tls: {certificate: /c.pem}\n"),
                ElementsAre(HasSubstr("certificate and key go together")));
    EXPECT_THAT(problems_of(kOneBackend + "tls: {client_ca: /c.pem}\n"),
                ElementsAre(HasSubstr("tls.client_ca needs tls.certificate")));
    EXPECT_THAT(problems_of(kOneBackend + "tls: {certificate: c.pem, key: /k.pem}\n"),
                UnorderedElementsAre(HasSubstr("tls.certificate: 'c.pem' is no absolute path"),
                                     HasSubstr("go together")));
    EXPECT_THAT(problems_of("backends:\n  - url: http://a:1\n    tls: {verify: false}\n"),
                ElementsAre(HasSubstr("backends[0].tls: the URL 'http://a:1' is not https://")));
    EXPECT_THAT(
        problems_of("backends:\n  - url: https://a:1\n    tls: {client_key: /k, verfy: true}\n"),
        ElementsAre(HasSubstr("client_certificate and client_key go together"),
                    HasSubstr("unknown key 'verfy' in backends[0].tls; did you mean 'verify'?")));
}

TEST(Load, AKeyInTheWrongSectionIsToldWhereItBelongs) {
    EXPECT_THAT(problems_of(kOneBackend + "strategy: random\n"),
                ElementsAre(HasSubstr("did you mean 'routing.strategy'?")));
    EXPECT_THAT(problems_of(kOneBackend + "log: {xyzzy: 1}\n"),
                ElementsAre(HasSubstr("known are: level format access")));
}

TEST(Load, AbsurdPrefixLimitsAreRefusedWithTheirRange) {
    for (const auto* line : {"routing: {prefix_length: 0}",
                             "routing: {prefix_length: 1023}",
                             "routing: {prefix_length: 65537}",
                             "routing: {prefix_length: -1}",
                             "routing: {prefix_length: 1e9}",
                             "routing: {concurrency_threshold: 0}",
                             "routing: {concurrency_threshold: 1025}",
                             "routing: {concurrency_threshold: 1.5}",
                             "limits: {prefix_map_bytes: 0}",
                             "limits: {prefix_map_bytes: 1}",
                             "limits: {prefix_map_bytes: -1}",
                             "limits: {prefix_map_bytes: 9999TiB}",
                             "limits: {prefix_map_bytes: 99999999999999999999}",
                             "routing: {hold_age: -1}",
                             "routing: {hold_age: nan}",
                             "routing: {hold_age: inf}",
                             "retry: {budget: 2}",
                             "limits: {connections: 0}",
                             "limits: {connections: 4294967296}",
                             "threads: 0",
                             "threads: 99999",
                             "limits: {header_bytes: 0}",
                             "health: {failures: 0}"}) {
        EXPECT_THAT(problems_of(kOneBackend + line + "\n"),
                    ElementsAre(AllOf(HasSubstr("f:2: "), HasSubstr("write "))))
            << line;
    }
}

// `{a: {b: value}}` for a.b; an entry of a list has another key beside.
std::string nested(const std::string& name, const std::string& value) {
    const auto dot = name.find('.');
    std::string key = name.substr(0, dot);
    const std::string inner =
        dot == std::string::npos ? value : "{" + nested(name.substr(dot + 1), value) + "}";
    if (!key.ends_with("[]")) {
        return key + ": " + inner;
    }
    key.resize(key.size() - 2);
    return key + ": [" + inner.substr(0, inner.size() - 1) + ", x: }]";
}

TEST(Load, EveryOptionRefusesAListAMapAndNothing) {
    for (const OptionFacts& facts : describe_options()) {
        for (const auto* value : {"{a: b}", "~", "[[a]]"}) {
            const auto dot = facts.name.rfind('.');
            const std::string yaml = nested(facts.name, value) + "\n";
            EXPECT_FALSE(load_text(yaml + kOneBackend, "f").config.has_value()) << yaml;
            EXPECT_THAT(problems_of(yaml),
                        testing::Contains(HasSubstr(facts.name.substr(dot + 1) + ": ")))
                << yaml;
        }
    }
}

TEST(Load, BackendsMustBeAListOfUsableEntries) {
    EXPECT_THAT(problems_of("threads: 1\n"), ElementsAre(HasSubstr("backends: is missing")));
    for (const auto* value : {"", "[]", "{}", "http://a:1"}) {
        EXPECT_THAT(problems_of("backends: " + std::string(value) + "\n"),
                    ElementsAre(HasSubstr("f:1: backends: must be a list with at least one")));
    }
    EXPECT_THAT(problems_of("backends: ['http://a:1']\n"),
                ElementsAre("f:1: backends[0]: write 'url: http://a:1'"));
    std::string many = "backends:\n";
    for (int i = 0; i < 1025; ++i) {
        many += "  - url: a:" + std::to_string(i + 1) + "\n";
    }
    EXPECT_THAT(problems_of(many), ElementsAre(HasSubstr("holds 1025 entries; at most 1024")));
}

TEST(Load, DuplicatesNameBothEntries) {
    EXPECT_THAT(problems_of("backends:\n"
                            "  - url: http://a:8000\n"
                            "  - url: A:8000/\n"),
                ElementsAre("f:3: backend URL 'http://a:8000' is already in line 2 "
                            "(http://a:8000); delete one of the entries"));
    EXPECT_THAT(problems_of("backends:\n"
                            "  - {url: 'http://a:8000', id: x}\n"
                            "  - {url: 'http://b:8000', id: x}\n"),
                ElementsAre("f:3: backend id 'x' is already in line 2 (http://a:8000); give one of "
                            "them another id"));
    const std::string taken = backend_from_url("http://b:8000")->id;
    EXPECT_THAT(problems_of("backends:\n"
                            "  - {url: 'http://a:8000', id: " +
                            taken + "}\n  - url: http://b:8000\n"),
                ElementsAre(HasSubstr("f:3: backend id '" + taken + "' is already in line 2")));
}

TEST(Load, BackendIdsAreLowerCaseWords) {
    for (const auto* id : {"A", "a_b", "a b", "''", "a/b", "\xc3\xa9"}) {
        EXPECT_THAT(problems_of("backends: [{url: 'a:1', id: " + std::string(id) + "}]\n"),
                    ElementsAre(HasSubstr("backends[0].id: ")))
            << id;
    }
    EXPECT_EQ(loaded("backends: [{url: 'a:1', id: 0123}]\n").backends.at(0).id, "0123");
}

TEST(Load, LimitsThatContradictEachOtherAreRefused) {
    EXPECT_THAT(problems_of(kOneBackend + "limits: {body_bytes: 2GiB}\n"),
                ElementsAre(HasSubstr("f:2: limits.body_bytes is above limits.buffered_bytes")));
    EXPECT_THAT(problems_of(kOneBackend + "admin: 127.0.0.1:8080\n"),
                ElementsAre(HasSubstr("admin and listen are the same address")));
}

TEST(LoadFile, SaysWhyAFileCannotBeRead) {
    const Loaded missing = load_file("/nonexistent/x.yaml");
    ASSERT_THAT(missing.problems, SizeIs(1));
    EXPECT_EQ(to_string(missing.problems[0]),
              "/nonexistent/x.yaml: cannot be opened: No such file or directory");
    const Loaded folder = load_file("/");
    ASSERT_THAT(folder.problems, SizeIs(1));
    EXPECT_THAT(folder.problems[0].message, HasSubstr("cannot be read"));
    const Loaded endless = load_file("/dev/zero");
    ASSERT_THAT(endless.problems, SizeIs(1));
    EXPECT_THAT(endless.problems[0].message, HasSubstr("1 MiB"));
}

TEST(LoadFile, ReadsWhatWasWritten) {
    const std::string path = testing::TempDir() + "config_load_test.yaml";
    std::ofstream(path) << kOneBackend;
    const Loaded result = load_file(path);
    std::remove(path.c_str());
    ASSERT_TRUE(result.config.has_value());
    EXPECT_EQ(*result.config, loaded(kOneBackend));
}

}  // namespace
}  // namespace prefix_router::config
