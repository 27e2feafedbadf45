#include "prefix_router/base/sha256.hpp"

#include <gtest/gtest.h>

namespace prefix_router {
namespace {

constexpr const char* kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Sha256, IsThatOfTheStandardsExample) {
    EXPECT_EQ(to_hex(sha256("abc")), kAbc);
}

TEST(Sha256, IsReadInEitherCaseAndNothingElseIs) {
    EXPECT_EQ(parse_sha256(kAbc), sha256("abc"));
    std::string upper(kAbc);
    upper[0] = 'B';
    EXPECT_EQ(parse_sha256(upper), sha256("abc"));
    EXPECT_FALSE(parse_sha256("").has_value());
    EXPECT_FALSE(parse_sha256(std::string(kAbc).substr(1)).has_value());
    EXPECT_FALSE(parse_sha256(std::string(64, 'g')).has_value());
}

TEST(Sha256, IsComparedWhole) {
    Sha256 other = sha256("abc");
    EXPECT_TRUE(are_equal_secrets(sha256("abc"), other));
    other.back() ^= 1;
    EXPECT_FALSE(are_equal_secrets(sha256("abc"), other));
}

}  // namespace
}  // namespace prefix_router
