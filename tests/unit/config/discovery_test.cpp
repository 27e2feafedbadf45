// The section `discovery`, and files of backends.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "prefix_router/config/options.hpp"

namespace prefix_router::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> in_words(const std::vector<Problem>& problems) {
    std::vector<std::string> words;
    for (const Problem& problem : problems) {
        words.push_back(to_string(problem));
    }
    return words;
}
std::vector<std::string> problems_of(const std::string& yaml) {
    return in_words(load_text(yaml, "f").problems);
}

TEST(DiscoverySection, HoldsSourcesWithWhatTheirBackendsHaveInCommon) {
    const Loaded loaded = load_text(R"(
discovery:
  allow_empty: true
  file: /etc/prefix-router/backends.yaml
  dns:
    - name: engines.internal
      port: 8000
      models: [m]
      lanes: 2
    - name: _http._tcp.engines.internal
      family: both
      nameserver: "[::1]:5353"
      min_interval: 50ms
      scheme: https
      authorization: remove
      tls: {ca: /ca.pem}
  kubernetes:
    - service: engines
      namespace: inference
      port: http
      kubeconfig: /etc/kubeconfig
      weight: 3
)",
                                    "f");
    EXPECT_THAT(in_words(loaded.problems), IsEmpty());
    ASSERT_TRUE(loaded.config.has_value());
    const Discovery& discovery = loaded.config->discovery;
    EXPECT_TRUE(discovery.is_on());
    EXPECT_TRUE(discovery.allow_empty);
    EXPECT_EQ(discovery.file, "/etc/prefix-router/backends.yaml");
    ASSERT_EQ(discovery.dns.size(), 2U);
    EXPECT_EQ(discovery.dns[0].port, 8000);
    EXPECT_THAT(discovery.dns[0].backend.models, ElementsAre("m"));
    EXPECT_EQ(discovery.dns[0].backend.lanes, 2);
    EXPECT_EQ(source_name(discovery.dns[0]), "dns:engines.internal:8000");
    EXPECT_FALSE(discovery.dns[1].port.has_value());
    EXPECT_EQ(discovery.dns[1].family, AddressFamily::Both);
    EXPECT_EQ(discovery.dns[1].nameserver, (ListenAddress{"::1", 5353}));
    EXPECT_TRUE(discovery.dns[1].backend.url.is_tls);
    EXPECT_EQ(discovery.dns[1].backend.tls.ca, "/ca.pem");
    EXPECT_EQ(source_name(discovery.dns[1]), "dns:_http._tcp.engines.internal");
    ASSERT_EQ(discovery.kubernetes.size(), 1U);
    EXPECT_EQ(discovery.kubernetes[0].backend.weight, 3);
    EXPECT_EQ(source_name(discovery.kubernetes[0]), "kubernetes:inference/engines:http");

    for (const auto comments : {Comments::With, Comments::Without}) {
        const Loaded again = load_text(to_yaml(*loaded.config, comments), "f");
        EXPECT_THAT(in_words(again.problems), IsEmpty());
        EXPECT_EQ(again.config, loaded.config);
    }
}

TEST(DiscoverySection, WithASourceNoBackendsAreNeeded) {
    EXPECT_THAT(problems_of("discovery: {file: /f}\n"), IsEmpty());
    EXPECT_THAT(problems_of("discovery: {file: /f}\nbackends: []\n"), IsEmpty());
    EXPECT_THAT(problems_of("discovery: {allow_empty: true}\nbackends: []\n"),
                ElementsAre(HasSubstr("f:2: backends: must be a list with at least one")));
    EXPECT_THAT(problems_of("discovery:\n"), ElementsAre(HasSubstr("backends: is missing")));
}

TEST(DiscoverySection, MistakesAreNamed) {
    const auto problems_in = [](const std::string& section) {
        return problems_of("backends: [{url: a:1}]\ndiscovery: {" + section + "}\n");
    };
    EXPECT_THAT(problems_in("dns: [{port: 1}]"), ElementsAre(HasSubstr("the name is missing")));
    EXPECT_THAT(problems_in("dns: [engines]"), ElementsAre(HasSubstr("the name is missing")));
    EXPECT_THAT(problems_in("dns: {name: a}"), ElementsAre(HasSubstr("must be a list")));
    EXPECT_THAT(problems_in("dns: [{name: a.b, port: 1}, {name: a.b, port: 1}]"),
                ElementsAre(HasSubstr("dns[1]: another entry asks for the same")));
    EXPECT_THAT(problems_in("dns: [{name: a.b, port: 1}, {name: a.b, port: 2}]"), IsEmpty());
    EXPECT_THAT(problems_in("dns: [{name: a.b, min_interval: 2m}]"),
                ElementsAre(HasSubstr("min_interval is above max_interval")));
    EXPECT_THAT(problems_in("dns: [{name: engines}]"), ElementsAre(HasSubstr("a port is missing")));
    EXPECT_THAT(problems_in("dns: [{name: a.b, tls: {ca: /c}}]"),
                ElementsAre(HasSubstr("the scheme is http")));
    EXPECT_THAT(problems_in("dns: [{name: a.b, url: x}]"),
                ElementsAre(HasSubstr("unknown key 'url' in discovery.dns[0]")));
    for (const auto* address : {"ns.internal:53", "10.0.0.1", ":53", "10.0.0.1:0"}) {
        EXPECT_THAT(problems_in("dns: [{name: a.b, nameserver: '" + std::string(address) + "'}]"),
                    ElementsAre(HasSubstr("is no address of a name server")))
            << address;
    }
    EXPECT_THAT(problems_in("kubernetes: [{service: ../secrets}]"),
                ElementsAre(HasSubstr("is no name in Kubernetes")));
    EXPECT_THAT(problems_in("kubernets: []"), ElementsAre(HasSubstr("did you mean 'kubernetes'?")));
    EXPECT_THAT(problems_in("file: backends.yaml"), ElementsAre(HasSubstr("no absolute path")));
}

TEST(DiscoverySection, AChangeNeedsARestart) {
    const Config running;
    Config next;
    next.discovery.dns.emplace_back();
    next.discovery.file = "/f";
    next.discovery.kubernetes.emplace_back();
    EXPECT_THAT(
        options_needing_restart(running, next),
        ::testing::UnorderedElementsAre("discovery.dns", "discovery.kubernetes", "discovery.file"));
}

TEST(BackendsFile, IsAListOrAMapOfOneInYamlOrJson) {
    for (const auto* text :
         {"- url: http://a:1\n- url: http://b:1\n  id: b\n",
          "backends:\n  - {url: 'http://a:1'}\n  - {url: 'http://b:1', id: b}\n",
          "[\n\t{\"url\": \"http://a:1\"},\n\t{\"url\": \"http://b:1\", \"id\": \"b\"}\n]\n",
          R"({"backends": [{"url": "http://a:1"}, {"url": "http://b:1", "id": "b"}]})"}) {
        const LoadedBackends loaded = load_backends(text, "f");
        EXPECT_THAT(in_words(loaded.problems), IsEmpty()) << text;
        ASSERT_TRUE(loaded.backends.has_value()) << text;
        ASSERT_EQ(loaded.backends->size(), 2U);
        EXPECT_EQ(loaded.backends->at(1).id, "b");
    }
}

TEST(BackendsFile, MayHoldNone) {
    for (const auto* text : {"[]", "backends: []", "{\"backends\": []}"}) {
        const LoadedBackends loaded = load_backends(text, "f");
        ASSERT_TRUE(loaded.backends.has_value()) << text;
        EXPECT_THAT(*loaded.backends, IsEmpty());
    }
}

TEST(BackendsFile, OneMistakeAndNothingOfItIsTaken) {
    const LoadedBackends loaded =
        load_backends("- url: http://a:1\n- url: http://b:1\n  wait: 3\n", "f");
    EXPECT_FALSE(loaded.backends.has_value());
    EXPECT_THAT(in_words(loaded.problems), ElementsAre(HasSubstr("f:3: unknown key 'wait'")));
    for (const auto* text :
         {"", "backends:", "~", "backends: 1", "a: b", "backends: []\nlisten: :80"}) {
        EXPECT_FALSE(load_backends(text, "f").backends.has_value()) << text;
    }
}

}  // namespace
}  // namespace prefix_router::config
