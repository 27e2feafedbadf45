#include "discovery/unique_ids.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prefix_router::discovery {
namespace {

using ::testing::ElementsAre;

class UniqueIdsTest : public ::testing::Test {
  protected:
    /// What backends of these hosts and ids are called.
    std::vector<std::string> assign(const std::vector<std::pair<std::string, std::string>>& named) {
        std::vector<config::Backend> backends;
        for (const auto& [host, id] : named) {
            backends.push_back(*config::backend_from_url("http://" + host + ":1"));
            backends.back().id = id;
        }
        ids_.assign(backends);
        std::vector<std::string> given;
        for (const config::Backend& backend : backends) {
            given.push_back(backend.id);
        }
        return given;
    }

    UniqueIds ids_;
};

TEST_F(UniqueIdsTest, NumberThoseThatAreTheSameByUrl) {
    EXPECT_THAT(assign({{"c", "x"}, {"a", "x"}, {"d", "y"}, {"b", "x"}}),
                ElementsAre("x-3", "x", "y", "x-2"));
}

TEST_F(UniqueIdsTest, StayWhoeverComesAndGoes) {
    EXPECT_THAT(assign({{"b", "x"}}), ElementsAre("x"));
    EXPECT_THAT(assign({{"a", "x"}, {"b", "x"}}), ElementsAre("x-2", "x"));
    EXPECT_THAT(assign({{"a", "x"}}), ElementsAre("x-2"));
    EXPECT_THAT(assign({{"a", "x"}, {"c", "x"}}), ElementsAre("x-2", "x"));
}

TEST_F(UniqueIdsTest, FollowWhatTheSourceCallsThem) {
    EXPECT_THAT(assign({{"a", "x"}, {"b", "x"}}), ElementsAre("x", "x-2"));
    EXPECT_THAT(assign({{"a", "x"}, {"b", "pod"}}), ElementsAre("x", "pod"));
    EXPECT_THAT(assign({{"b", "x"}}), ElementsAre("x"));
}

TEST_F(UniqueIdsTest, PassOverOnesThatAreTaken) {
    EXPECT_THAT(assign({{"a", "x"}, {"b", "x"}}), ElementsAre("x", "x-2"));
    EXPECT_THAT(assign({{"a", "x"}, {"b", "x"}, {"c", "x-2"}}), ElementsAre("x", "x-2", "x-2-2"));
}

}  // namespace
}  // namespace prefix_router::discovery
