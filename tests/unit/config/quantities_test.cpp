#include "config/quantities.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prefix_router::config {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

TEST(Duration, IsReadWithItsUnit) {
    const std::pair<std::string_view, long> cases[] = {
        {"0", 0},        {"0ms", 0},        {"0s", 0},       {"250ms", 250},  {"5s", 5'000},
        {"2m", 120'000}, {"1h", 3'600'000}, {"90s", 90'000}, {"007s", 7'000},
    };
    for (const auto& [text, expected] : cases) {
        const auto duration = parse_duration(text);
        ASSERT_TRUE(duration.has_value()) << text;
        EXPECT_EQ(*duration, milliseconds{expected}) << text;
    }
}

TEST(Duration, WithoutUnitOrWithAnUnknownOneSaysWhatToWrite) {
    EXPECT_THAT(parse_duration("5").error().message(), HasSubstr("'5' has no unit"));
    for (const auto* text : {"", "s", "1.5s", "-1s", "+1s", "5 s", "5sec", "5S", "1d", "1us",
                             "0x5s", "9223372036854775808ms", "99999999999999999999s", "1e3ms"}) {
        const auto duration = parse_duration(text);
        ASSERT_TRUE(duration.has_error()) << text;
        EXPECT_THAT(duration.error().message(), HasSubstr("such as 250ms, 5s or 2m")) << text;
    }
}

TEST(Duration, ThatOverflowsSaturates) {
    const auto duration = parse_duration("9223372036854775807h");
    ASSERT_TRUE(duration.has_value());
    EXPECT_EQ(*duration, milliseconds::max());
}

TEST(Duration, IsWrittenInTheLargestUnitThatDivides) {
    EXPECT_EQ(format_duration(milliseconds{0}), "0");
    EXPECT_EQ(format_duration(milliseconds{250}), "250ms");
    EXPECT_EQ(format_duration(milliseconds{1'500}), "1500ms");
    EXPECT_EQ(format_duration(milliseconds{75'000}), "75s");
    EXPECT_EQ(format_duration(milliseconds{120'000}), "2m");
    EXPECT_EQ(format_duration(milliseconds{7'200'000}), "2h");
}

TEST(Size, IsReadInBinaryUnitsOrBytes) {
    const std::pair<std::string_view, std::uint64_t> cases[] = {
        {"0", 0},           {"64KiB", 65'536},    {"1MiB", 1U << 20},
        {"1GiB", 1U << 30}, {"2TiB", 2ULL << 40}, {"1048576", 1'048'576},
    };
    for (const auto& [text, expected] : cases) {
        const auto size = parse_size(text);
        ASSERT_TRUE(size.has_value()) << text;
        EXPECT_EQ(*size, expected) << text;
    }
}

TEST(Size, InDecimalUnitsOrWithoutNumberSaysWhatToWrite) {
    for (const auto* text : {"", "KiB", "64KB", "64kb", "64K", "-1", "1.5GiB", "64 KiB", "1B",
                             "18446744073709551616"}) {
        const auto size = parse_size(text);
        ASSERT_TRUE(size.has_error()) << text;
        EXPECT_THAT(size.error().message(), HasSubstr("such as 64KiB")) << text;
    }
}

TEST(Size, IsWrittenInTheLargestUnitThatDivides) {
    EXPECT_EQ(format_size(0), "0");
    EXPECT_EQ(format_size(1'000), "1000");
    EXPECT_EQ(format_size(65'536), "64KiB");
    EXPECT_EQ(format_size(std::uint64_t{1} << 30), "1GiB");
    EXPECT_EQ(format_size(3ULL << 40), "3TiB");
}

TEST(Real, IsWrittenShortest) {
    EXPECT_EQ(format_real(0.1), "0.1");
    EXPECT_EQ(format_real(1), "1");
    EXPECT_EQ(format_real(0.001), "0.001");
}

}  // namespace
}  // namespace prefix_router::config
