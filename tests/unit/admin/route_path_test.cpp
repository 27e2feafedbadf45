#include "admin/route_path.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prefix_router::admin {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(RoutePath, MatchesWordForWord) {
    std::map<std::string, std::string> parameters;
    EXPECT_TRUE(matches("/backends", "/backends", parameters));
    EXPECT_THAT(parameters, IsEmpty());
    for (const char* other : {"/", "", "backends", "/backends/", "/backend", "/backends/a"}) {
        EXPECT_FALSE(matches("/backends", other, parameters)) << other;
    }
}

TEST(RoutePath, NamesItsParameters) {
    std::map<std::string, std::string> parameters;
    EXPECT_TRUE(matches("/backends/{id}/drain", "/backends/a-1/drain", parameters));
    EXPECT_THAT(parameters, ElementsAre(Pair("id", "a-1")));
    EXPECT_TRUE(matches("/backends/{id}", "/backends/a", parameters));
    EXPECT_THAT(parameters, ElementsAre(Pair("id", "a")));
    for (const char* other : {"/backends//drain", "/backends/a/b/drain", "/backends/a/drain/"}) {
        EXPECT_FALSE(matches("/backends/{id}/drain", other, parameters)) << other;
    }
}

}  // namespace
}  // namespace prefix_router::admin
