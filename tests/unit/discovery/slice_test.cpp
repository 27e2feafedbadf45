// EndpointSlices: what the API server says, and which backends that makes.
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "discovery/endpoint_slice.hpp"
#include "discovery/line_splitter.hpp"
#include "discovery/slice_set.hpp"

namespace prefix_router::discovery {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Kind = SliceEvent::Kind;

// As a kube-apiserver 1.30 writes one, without what the router does not read.
constexpr std::string_view kSlice = R"({
  "metadata": {"name": "engines-abc12", "namespace": "default", "resourceVersion": "41",
               "labels": {"kubernetes.io/service-name": "engines"}},
  "addressType": "IPv4",
  "endpoints": [
    {"addresses": ["10.1.0.5"], "conditions": {"ready": true, "serving": true, "terminating": false},
     "targetRef": {"kind": "Pod", "namespace": "default", "name": "engine-0", "uid": "u0"},
     "nodeName": "n1"},
    {"addresses": ["10.1.0.6"], "conditions": {"ready": false, "serving": true, "terminating": true},
     "targetRef": {"kind": "Pod", "namespace": "default", "name": "engine-1", "uid": "u1"}},
    {"addresses": ["10.1.0.7"], "conditions": {"ready": false, "serving": false, "terminating": false},
     "targetRef": {"kind": "Pod", "namespace": "default", "name": "engine-2", "uid": "u2"}},
    {"addresses": ["10.1.0.8"], "conditions": {}},
    {"addresses": ["10.1.0.9"], "conditions": {"ready": true, "serving": false, "terminating": false}}],
  "ports": [{"name": "http", "port": 8000, "protocol": "TCP"},
            {"name": "metrics", "port": 9000, "protocol": "TCP"}]})";

std::string list_of(std::string_view items) {
    return R"({"kind": "EndpointSliceList", "apiVersion": "discovery.k8s.io/v1",
               "metadata": {"resourceVersion": "1200"}, "items": [)" +
           std::string(items) + "]}";
}
std::string event_of(std::string_view type, std::string_view object) {
    return R"({"type": ")" + std::string(type) + R"(", "object": )" + std::string(object) + "}";
}

EndpointSlice slice(const std::string& name, EndpointSlice::Family family,
                    std::vector<SliceEndpoint> endpoints, std::vector<SlicePort> ports) {
    return {name, family, std::move(endpoints), std::move(ports)};
}
std::vector<std::string> urls(const Result<std::vector<config::Backend>>& backends) {
    std::vector<std::string> texts;
    for (const auto& backend : backends.value()) {
        texts.push_back(backend.id + " " + backend.url.text);
    }
    return texts;
}
config::KubernetesSource with_port(const std::optional<std::string>& port) {
    config::KubernetesSource source;
    source.service = "engines";
    source.port = port;
    return source;
}

constexpr auto kIpv4 = EndpointSlice::Family::Ipv4;
constexpr auto kIpv6 = EndpointSlice::Family::Ipv6;

TEST(EndpointSlices, AreUsableWhereReadyAndServingAndNotTerminating) {
    const auto list = parse_slice_list(list_of(kSlice));
    ASSERT_TRUE(list.has_value()) << list.error().message();
    EXPECT_EQ(list->resource_version, "1200");
    std::vector<std::string> usable;
    for (const SliceEndpoint& endpoint : list->slices.at(0).endpoints) {
        if (endpoint.is_usable) {
            usable.push_back(endpoint.address + " " + endpoint.pod);
        }
    }
    EXPECT_THAT(usable, ElementsAre("10.1.0.5 engine-0", "10.1.0.8 "));
}

TEST(EndpointSlices, AnEmptyListHasItsVersion) {
    const auto list = parse_slice_list(R"({"kind":"EndpointSliceList","metadata":
        {"resourceVersion":"7"},"items":null})");
    ASSERT_TRUE(list.has_value());
    EXPECT_THAT(list->slices, IsEmpty());
}

TEST(EndpointSlices, WhatIsNoneIsAnError) {
    for (const auto* text :
         {"", "{", "[]", "{}", "null", R"({"kind":"Status","code":403})",
          R"({"kind":"EndpointSliceList","metadata":{}})",
          R"({"kind":"EndpointSliceList","metadata":{"resourceVersion":"1"},"items":["a",1]})",
          R"({"kind":"EndpointSliceList","metadata":{"resourceVersion":1},"items":[]})"}) {
        EXPECT_TRUE(parse_slice_list(text).has_error()) << text;
    }
    EXPECT_TRUE(parse_slice_list(std::string(100'000, '[')).has_error());
}

TEST(EndpointSlices, MembersOfOtherTypesCountAsAbsent) {
    const auto list = parse_slice_list(
        list_of(R"({"metadata":{"name":"s"},"addressType":"IPv4","ports":[{"name":7,"port":-1},
                {"port":70000},{"port":"80"},3],"endpoints":[{"addresses":[]},{"addresses":"a"},
                {"addresses":[1]},{"addresses":["10.0.0.1"],"conditions":[],"targetRef":1}]})"));
    ASSERT_TRUE(list.has_value()) << list.error().message();
    ASSERT_EQ(list->slices.at(0).endpoints.size(), 1U);
    EXPECT_TRUE(list->slices.at(0).endpoints[0].is_usable);
    for (const SlicePort& port : list->slices.at(0).ports) {
        EXPECT_FALSE(port.number.has_value());
    }
}

TEST(EndpointSlices, EventsOfAWatch) {
    auto event = parse_slice_event(event_of("ADDED", kSlice));
    ASSERT_TRUE(event.has_value()) << event.error().message();
    EXPECT_EQ(event->kind, Kind::Put);
    EXPECT_EQ(event->resource_version, "41");
    EXPECT_EQ(event->slice.name, "engines-abc12");
    EXPECT_EQ(parse_slice_event(event_of("MODIFIED", kSlice))->kind, Kind::Put);
    EXPECT_EQ(parse_slice_event(event_of("DELETED", kSlice))->kind, Kind::Deleted);
    event = parse_slice_event(event_of("BOOKMARK", R"({"kind": "EndpointSlice",
        "metadata": {"resourceVersion": "99"}, "endpoints": null, "addressType": ""})"));
    ASSERT_TRUE(event.has_value()) << event.error().message();
    EXPECT_EQ(event->kind, Kind::Bookmark);
    EXPECT_EQ(event->resource_version, "99");
}

TEST(EndpointSlices, ErrorsOfAWatch) {
    auto event = parse_slice_event(event_of(
        "ERROR", R"({"kind":"Status","status":"Failure","message":"too old resource version: 1",
                     "reason":"Expired","code":410})"));
    ASSERT_TRUE(event.has_value());
    EXPECT_EQ(event->kind, Kind::Expired);
    event = parse_slice_event(event_of("ERROR", R"({"message":"etcd","code":500})"));
    EXPECT_EQ(event->kind, Kind::Failed);
    EXPECT_EQ(event->message, "etcd");
    EXPECT_TRUE(parse_slice_event(R"({"type":"ADDED","obj)").has_error());
    EXPECT_TRUE(parse_slice_event(event_of("ADDED", "{}")).has_error());
    EXPECT_TRUE(parse_slice_event(event_of("RENAMED", kSlice)).has_error());
}

TEST(EndpointSlices, TheMessageOfAStatus) {
    EXPECT_EQ(status_message(R"({"kind":"Status","message":"Unauthorized"})"), "Unauthorized");
    EXPECT_EQ(status_message("<html>"), "");
}

TEST(SliceSet, TakesThePortByNameByNumberOrTheOnlyOne) {
    SliceSet set;
    set.replace(parse_slice_list(list_of(kSlice))->slices);
    EXPECT_THAT(urls(set.backends(with_port("http"))),
                ElementsAre("engine-0-8000 http://10.1.0.5:8000",
                            ::testing::EndsWith(" http://10.1.0.8:8000")));
    EXPECT_THAT(urls(set.backends(with_port("9000"))),
                ElementsAre("engine-0-9000 http://10.1.0.5:9000",
                            ::testing::EndsWith(" http://10.1.0.8:9000")));
    const auto ambiguous = set.backends(with_port(std::nullopt));
    ASSERT_TRUE(ambiguous.has_error());
    EXPECT_THAT(ambiguous.error().message(), HasSubstr("http=8000, metrics=9000"));
    const auto unknown = set.backends(with_port("grpc"));
    ASSERT_TRUE(unknown.has_error());
    EXPECT_THAT(unknown.error().message(), HasSubstr("no port 'grpc'"));
}

TEST(SliceSet, AServiceWithoutPortsTakesANumber) {
    SliceSet set;
    set.put(slice("a", kIpv4, {{"10.0.0.1", "p", true}}, {}));
    EXPECT_THAT(urls(set.backends(with_port("8000"))), ElementsAre("p-8000 http://10.0.0.1:8000"));
    EXPECT_TRUE(set.backends(with_port("http")).has_error());
}

TEST(SliceSet, MergesSlicesWithPortsOfTheirOwnAndLeavesOutThoseWithoutThePort) {
    SliceSet set;
    set.put(slice("a", kIpv4, {{"10.0.0.1", "p", true}}, {{"http", 8000}}));
    set.put(slice("b", kIpv4, {{"10.0.0.2", "q", true}}, {{"http", 8080}}));
    set.put(slice("c", kIpv4, {{"10.0.0.3", "r", true}}, {{"other", 1}, {"http", std::nullopt}}));
    EXPECT_THAT(urls(set.backends(with_port("http"))),
                ElementsAre("p-8000 http://10.0.0.1:8000", "q-8080 http://10.0.0.2:8080"));
    set.remove("a");
    EXPECT_THAT(urls(set.backends(with_port("http"))), ElementsAre("q-8080 http://10.0.0.2:8080"));
}

TEST(SliceSet, APodCountsOnceByItsIpv4Address) {
    SliceSet set;
    set.put(slice("six", kIpv6, {{"fd00::1", "p", true}, {"fd00::2", "q", true}}, {{"", 8000}}));
    set.put(slice("four", kIpv4, {{"10.0.0.1", "p", true}}, {{"", 8000}}));
    set.put(slice("moved", kIpv4, {{"10.0.0.1", "p", false}}, {{"", 8000}}));
    EXPECT_THAT(urls(set.backends(with_port(std::nullopt))),
                ElementsAre("p-8000 http://10.0.0.1:8000", "q-8000 http://[fd00::2]:8000"));
}

TEST(SliceSet, APodWhoseNameIsNoIdIsCalledByItsUrl) {
    SliceSet set;
    set.put(slice("a", kIpv4,
                  {{"10.0.0.1", "has.dots", true}, {"10.0.0.2", std::string(60, 'x'), true}},
                  {{"", 8000}}));
    const auto backends = set.backends(with_port(std::nullopt));
    EXPECT_EQ(backends->at(0).id.size(), 8U);
    EXPECT_EQ(backends->at(1).id.size(), 8U);
}

TEST(SliceSet, LosesNoneOfTwoWhoseUrlsHaveTheSameHash) {
    const auto id_of = [](const std::string& url) { return config::backend_from_url(url)->id; };
    ASSERT_EQ(id_of("http://10.0.56.192:8002"), id_of("http://10.0.133.136:8002"));
    SliceSet set;
    set.put(
        slice("a", kIpv4, {{"10.0.56.192", "", true}, {"10.0.133.136", "", true}}, {{"", 8002}}));
    set.put(slice("b", kIpv4, {{"10.0.56.192", "", true}}, {{"", 8002}}));
    EXPECT_THAT(urls(set.backends(with_port(std::nullopt))),
                ElementsAre(::testing::EndsWith(" http://10.0.133.136:8002"),
                            ::testing::EndsWith(" http://10.0.56.192:8002")));
}

TEST(SliceSet, WithoutUsableEndpointsIsEmptyWhateverThePorts) {
    SliceSet set;
    EXPECT_THAT(urls(set.backends(with_port("http"))), IsEmpty());
    set.put(slice("a", kIpv4, {{"10.0.0.1", "p", false}}, {}));
    EXPECT_THAT(urls(set.backends(with_port("http"))), IsEmpty());
}

TEST(LineSplitter, CutsLinesHoweverTheyCome) {
    LineSplitter lines(10);
    std::vector<std::string> seen;
    const auto visit = [&](std::string_view line) {
        seen.emplace_back(line);
        return true;
    };
    for (const auto* piece : {"", "on", "e\n\ntw", "o", "\nthree\nfo"}) {
        EXPECT_TRUE(lines.take(piece, visit));
    }
    EXPECT_THAT(seen, ElementsAre("one", "two", "three"));
    EXPECT_TRUE(lines.take("ur567890", visit));
    EXPECT_FALSE(lines.take("1", visit)) << "a line without end";
}

TEST(LineSplitter, EndsWhereItsReaderIsDone) {
    LineSplitter lines(10);
    int seen = 0;
    EXPECT_FALSE(lines.take("a\nb\nc\n", [&](std::string_view) { return ++seen < 2; }));
    EXPECT_EQ(seen, 2);
}

}  // namespace
}  // namespace prefix_router::discovery
