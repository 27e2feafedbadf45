#include "prefix_router/base/error.hpp"

#include <cctype>
#include <set>
#include <stdexcept>

#include <gtest/gtest.h>

namespace prefix_router {
namespace {

constexpr int kKinds = static_cast<int>(ErrorKind::Io) + 1;

TEST(ErrorKind, HasAUniqueSnakeCaseName) {
    std::set<std::string_view> names;
    for (int i = 0; i < kKinds; ++i) {
        const std::string_view name = to_string(static_cast<ErrorKind>(i));
        EXPECT_TRUE(names.insert(name).second) << name;
        EXPECT_NE(name, "unknown") << i;
        for (const char c : name) {
            EXPECT_TRUE(std::islower(static_cast<unsigned char>(c)) || c == '_') << name;
        }
    }
}

TEST(ErrorKind, OutsideTheEnumerationIsNamedUnknown) {
    EXPECT_EQ(to_string(static_cast<ErrorKind>(kKinds)), "unknown");
}

TEST(Result, HoldsEitherAValueOrAnError) {
    const Result<int> good = 7;
    ASSERT_TRUE(good.has_value());
    EXPECT_EQ(*good, 7);
    const Result<int> bad = Error(ErrorKind::ConnectRefused, "nobody listens");
    ASSERT_TRUE(bad.has_error());
    EXPECT_EQ(bad.error().kind(), ErrorKind::ConnectRefused);
    EXPECT_EQ(bad.error().message(), "nobody listens");
}

TEST(Result, ThrowsKindAndMessageWhenItsMissingValueIsTaken) {
    const Result<int> bad = Error(ErrorKind::FirstByteTimeout, "no byte in 5s");
    try {
        static_cast<void>(bad.value());
        FAIL() << "value() of an error returned";
    } catch (const std::runtime_error& thrown) {
        EXPECT_STREQ(thrown.what(), "first_byte_timeout: no byte in 5s");
    }
}

}  // namespace
}  // namespace prefix_router
