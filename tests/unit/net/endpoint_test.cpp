#include "prefix_router/net/endpoint.hpp"

#include <string>

#include <gtest/gtest.h>

namespace prefix_router::net {
namespace {

TEST(Endpoint, ReadsNumericAddressesOfBothFamilies) {
    const auto four = Endpoint::from_numeric("127.0.0.1", 8000);
    ASSERT_TRUE(four);
    EXPECT_EQ(four->family(), AF_INET);
    EXPECT_EQ(four->port(), 8000);
    EXPECT_EQ(four->host(), "127.0.0.1");
    const auto six = Endpoint::from_numeric("::1", 65535);
    ASSERT_TRUE(six);
    EXPECT_EQ(six->family(), AF_INET6);
    EXPECT_EQ(six->port(), 65535);
    EXPECT_EQ(six->host(), "::1");
}

TEST(Endpoint, LeavesNamesToTheResolver) {
    EXPECT_FALSE(Endpoint::from_numeric("localhost", 80));
    EXPECT_FALSE(Endpoint::from_numeric("", 80));
}

TEST(Endpoint, ShowsAnIpv4ClientOfADualStackSocketAsIpv4) {
    const auto mapped = Endpoint::from_numeric("::ffff:10.1.2.3", 1);
    ASSERT_TRUE(mapped);
    EXPECT_EQ(mapped->host(), "10.1.2.3");
}

TEST(Endpoint, RefusesAUnixPathThatDoesNotFit) {
    EXPECT_TRUE(Endpoint::from_unix_path("/run/engine.sock"));
    const auto refused = Endpoint::from_unix_path(std::string(200, 'x'));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind(), ErrorKind::InvalidConfiguration);
}

}  // namespace
}  // namespace prefix_router::net
