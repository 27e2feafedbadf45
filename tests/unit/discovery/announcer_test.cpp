// What a source says to the rest while it works, fails, and answers with nothing.
#include "discovery/announcer.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prefix_router::discovery {
namespace {

using ::testing::HasSubstr;

std::vector<config::Backend> backends(const std::vector<std::string>& urls) {
    std::vector<config::Backend> made;
    for (const std::string& url : urls) {
        made.push_back(*config::backend_from_url(url));
    }
    return made;
}

class AnnouncerTest : public ::testing::Test {
  protected:
    Announcer make(const config::Discovery& config = {}) {
        return Announcer(
            "test", config, registry, [this](const std::string&, std::vector<config::Backend> set) {
                published.push_back(set.size());
                return refuses ? Result<void>(
                                     Error(ErrorKind::InvalidConfiguration, "another has the id"))
                               : Result<void>();
            });
    }
    void expect(const std::string& metric, int value) const {
        EXPECT_THAT(registry.exposition(),
                    HasSubstr("prefix_router_discovery_" + metric + "{source=\"test\"} " +
                              std::to_string(value) + "\n"));
    }

    metrics::Registry registry;
    std::vector<std::size_t> published;
    bool refuses = false;
};

TEST_F(AnnouncerTest, PublishesWhatChangedAndOnlyThat) {
    Announcer announcer = make();
    expect("up", 0);
    announcer.found(backends({"http://a:1", "http://b:1"}));
    announcer.found(backends({"http://b:1", "http://a:1"}));
    announcer.found(backends({"http://b:1"}));
    EXPECT_THAT(published, ::testing::ElementsAre(2, 1));
    expect("up", 1);
    expect("backends", 1);
    expect("failures_total", 0);
}

TEST_F(AnnouncerTest, KeepsTheLastSetWhileTheSourceFails) {
    Announcer announcer = make();
    announcer.found(backends({"http://a:1"}));
    announcer.failed("silence");
    announcer.failed("silence");
    expect("up", 0);
    expect("backends", 1);
    expect("failures_total", 2);
    announcer.found(backends({"http://a:1"}));
    expect("up", 1);
    EXPECT_THAT(published, ::testing::ElementsAre(1));
}

TEST_F(AnnouncerTest, ASilentSourceThatIsBackWithNothingNewWorks) {
    Announcer announcer = make();
    announcer.found(backends({"http://a:1"}));
    announcer.failed("silence");
    announcer.same_as_before();
    expect("up", 1);
    announcer.unusable("half a file");
    announcer.failed("silence");
    announcer.same_as_before();
    expect("up", 0);
}

TEST_F(AnnouncerTest, AnEmptyAnswerRemovesNothing) {
    Announcer announcer = make();
    announcer.found({});
    expect("up", 0);
    expect("failures_total", 1);
    announcer.found(backends({"http://a:1"}));
    expect("up", 1);
    announcer.found({});
    expect("up", 0);
    expect("backends", 1);
    announcer.same_as_before();
    expect("up", 0);
    EXPECT_THAT(published, ::testing::ElementsAre(1));
}

TEST_F(AnnouncerTest, AnEmptyAnswerRemovesAllWhereThatIsAllowed) {
    config::Discovery config;
    config.allow_empty = true;
    Announcer announcer = make(config);
    announcer.found(backends({"http://a:1"}));
    announcer.found({});
    EXPECT_THAT(published, ::testing::ElementsAre(1, 0));
    expect("up", 1);
    expect("backends", 0);
}

TEST_F(AnnouncerTest, WhatIsRefusedIsPublishedAgainUntilItIsTaken) {
    Announcer announcer = make();
    refuses = true;
    announcer.found(backends({"http://a:1"}));
    announcer.same_as_before();
    expect("up", 0);
    expect("backends", 0);
    refuses = false;
    announcer.same_as_before();
    expect("up", 1);
    expect("backends", 1);
    announcer.same_as_before();
    EXPECT_THAT(published, ::testing::ElementsAre(1, 1, 1));
}

}  // namespace
}  // namespace prefix_router::discovery
