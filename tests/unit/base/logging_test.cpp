#include "prefix_router/base/logging.hpp"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

namespace prefix_router {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

/// What one warning looks like on standard error.
std::string logged(LogFormat format, const std::string& message) {
    testing::internal::CaptureStderr();
    const auto logger = start_logging(format, "info");
    EXPECT_TRUE(logger.has_value());
    spdlog::debug("below the level");
    spdlog::warn("{}", message);
    spdlog::shutdown();  // waits for the writing thread
    return testing::internal::GetCapturedStderr();
}

TEST(EscapeForLog, KeepsTextAndEscapesWhatCouldForgeALine) {
    EXPECT_EQ(escape_for_log(""), "");
    EXPECT_EQ(escape_for_log("GET /v1 caf\xc3\xa9 \xe2\x82\xac"),
              "GET /v1 caf\xc3\xa9 \xe2\x82\xac");
    EXPECT_EQ(escape_for_log("a\nb\r\t\x1b[31m\x7f"), R"(a\u000ab\u000d\u0009\u001b[31m\u007f)");
    EXPECT_EQ(escape_for_log(R"(say "x" \n)"), R"(say \"x\" \\n)");
    EXPECT_EQ(escape_for_log(std::string_view("\0", 1)), R"(\u0000)");
}

TEST(EscapeForLog, EscapesC1ControlsAndBytesThatAreNoUtf8) {
    EXPECT_EQ(escape_for_log("\xc2\x9b"
                             "31m"),
              R"(\u009b31m)");
    EXPECT_EQ(escape_for_log("\xc2\xa0"), "\xc2\xa0");
    EXPECT_EQ(escape_for_log("a\xff"
                             "b\xc3"),
              R"(a\u00ffb\u00c3)");
    EXPECT_EQ(escape_for_log("\xed\xa0\x80"), R"(\u00ed\u00a0\u0080)");
}

TEST(EscapeForLog, OfAnyBytesIsTheInsideOfAJsonString) {
    for (int first = 0; first < 256; ++first) {
        for (int second = 0; second < 256; ++second) {
            const std::string bytes{static_cast<char>(first), static_cast<char>(second)};
            const std::string json = "\"" + escape_for_log(bytes) + "\"";
            ASSERT_TRUE(nlohmann::json::accept(json)) << first << " " << second;
        }
    }
}

TEST(Logging, InTextIsOneLineWithTimeLevelAndMessage) {
    EXPECT_THAT(logged(LogFormat::Text, "backend a is back"),
                MatchesRegex("[0-9-]+T[0-9:.]+[+-][0-9:]+ warning backend a is back\n"));
}

TEST(Logging, InJsonIsOneObjectWhateverTheMessageHolds) {
    const std::string message = "file \"x\\y\"\nsecond \xff line";
    const std::string line = logged(LogFormat::Json, message);
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
    const auto json = nlohmann::json::parse(line);
    EXPECT_EQ(json["level"], "warning");
    EXPECT_EQ(json["message"], "file \"x\\y\"\nsecond \xc3\xbf line");
}

TEST(Logging, RefusesAnUnknownLevelAndListsTheKnown) {
    const auto logger = start_logging(LogFormat::Text, "loud\n");
    ASSERT_TRUE(logger.has_error());
    EXPECT_EQ(logger.error().kind(), ErrorKind::InvalidConfiguration);
    EXPECT_THAT(logger.error().message(), HasSubstr(R"('loud\u000a')"));
    EXPECT_THAT(logger.error().message(), HasSubstr("trace, debug, info, warn, error or off"));
}

TEST(Logging, KnowsEveryLevelByName) {
    for (const auto* level : {"trace", "debug", "info", "warn", "error", "off"}) {
        const auto logger = start_logging(LogFormat::Text, level);
        ASSERT_TRUE(logger.has_value()) << level;
        EXPECT_EQ((*logger)->level() == spdlog::level::off, std::string_view(level) == "off");
        spdlog::shutdown();
    }
}

}  // namespace
}  // namespace prefix_router
