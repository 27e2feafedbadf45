#include "prefix_router/net/connect.hpp"

#include <gtest/gtest.h>

namespace prefix_router::net {
namespace {

using std::chrono::milliseconds;

TEST(ConnectShare, IsOfTheWholeTimeAndNeverNone) {
    EXPECT_EQ(connect_share(milliseconds(3000), 1), milliseconds(3000));
    EXPECT_EQ(connect_share(milliseconds(3000), 2), milliseconds(1500));
    EXPECT_EQ(connect_share(milliseconds(10), 16), milliseconds(1));
    EXPECT_EQ(connect_share(milliseconds(10), 0), milliseconds(10));
}

}  // namespace
}  // namespace prefix_router::net
