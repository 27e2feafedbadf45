#include "admin/query.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prefix_router::admin {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(SplitTarget, APathWithoutAQueryStandsAlone) {
    std::string path;
    std::map<std::string, std::string> query{{"left", "over"}};
    split_target("/metrics", path, query);
    EXPECT_EQ(path, "/metrics");
    EXPECT_THAT(query, IsEmpty());
}

TEST(SplitTarget, NamesAndValuesAreDecoded) {
    std::string path;
    std::map<std::string, std::string> query;
    split_target("/decisions?limit=5&model=a%2Fb+c&flag", path, query);
    EXPECT_EQ(path, "/decisions");
    EXPECT_THAT(query, ElementsAre(Pair("flag", ""), Pair("limit", "5"), Pair("model", "a/b c")));
}

TEST(SplitTarget, MalformedEscapesStayAsTheyAre) {
    std::string path;
    std::map<std::string, std::string> query;
    split_target("/x?a=%zz&b=%4&&=", path, query);
    EXPECT_THAT(query, ElementsAre(Pair("", ""), Pair("a", "%zz"), Pair("b", "%4")));
}

}  // namespace
}  // namespace prefix_router::admin
