#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "prefix_router/config/config.hpp"

namespace prefix_router::config {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr std::size_t kMiB = std::size_t{1} << 20;
// Large enough for recursion or quadratic time to show; yaml-cpp reads 2 to 8 MiB a second.
constexpr std::size_t kLarge = std::size_t{32} << 10;

std::string repeated(std::string_view piece, std::size_t bytes) {
    std::string text;
    while (text.size() + piece.size() <= bytes) {
        text += piece;
    }
    return text;
}

std::string first_problem(const std::string& yaml) {
    const Loaded loaded = load_text(yaml, "f");
    EXPECT_FALSE(loaded.config.has_value());
    return loaded.problems.empty() ? "" : to_string(loaded.problems.front());
}

TEST(HostileYaml, AliasesAreRefusedAndNeverExpanded) {
    std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 30; ++i) {
        const std::string before = "*a" + std::to_string(i - 1);
        bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + ", " +
                before + "]\n";
    }
    EXPECT_THAT(first_problem(bomb), HasSubstr("f:2: aliases"));
}

TEST(HostileYaml, NestingIsBoundedInEveryStyle) {
    for (const auto* piece : {"[", "{", "{a: ", "[a, ", "- ", "? ", "a: [", "[[],", "{a: b, c: "}) {
        for (const std::size_t size : {std::size_t{100}, kLarge}) {
            EXPECT_NE(first_problem(repeated(piece, size)), "") << piece << " " << size;
        }
    }
    std::string indented;
    for (std::size_t depth = 0; depth < 1000; ++depth) {
        indented += std::string(depth, ' ') + "a:\n";
    }
    EXPECT_THAT(first_problem(indented), HasSubstr("nested deeper than 16"));
}

TEST(HostileYaml, ManyOfAnyOneThingIsAnErrorAndNotAHang) {
    for (const auto* piece : {"]",           "}",       ":",
                              ": ",          "&a ",     "*a ",
                              "!a ",         "!!",      "%",
                              "%YAML 1.1\n", "---\n",   "...\n",
                              "'",           "\"",      "|\n",
                              ">\n",         "#",       "a",
                              "a\n",         "\\",      "\"\\x",
                              "\n",          " ",       "\t",
                              ",",           "-",       "- a\n",
                              "? a\n",       "a: b\n",  "a: 'b",
                              "@",           "`",       "\xef\xbb\xbf",
                              "a: |\n b\n",  "<<: a\n", "[],",
                              "{},"}) {
        EXPECT_NE(first_problem(repeated(piece, kLarge)), "") << piece;
    }
}

TEST(HostileYaml, MoreThanAMebibyteIsRefusedUnread) {
    EXPECT_THAT(first_problem(std::string(kMiB + 1, ' ')), HasSubstr("1 MiB"));
}

TEST(HostileYaml, RepeatedKeysAreAllNamedWithBothLines) {
    const Loaded loaded = load_text(
        "listen: :1\nbackends: [{url: 'a:1'}]\nlisten: :2\nlog: {level: info, level: warn}\n", "f");
    EXPECT_FALSE(loaded.config.has_value());
    ASSERT_THAT(loaded.problems, SizeIs(2));
    EXPECT_EQ(to_string(loaded.problems[0]),
              "f:3: key 'listen' is already in line 1; delete one of them");
    EXPECT_EQ(to_string(loaded.problems[1]),
              "f:4: key 'level' is already in line 4; delete one of them");
}

TEST(HostileYaml, ARepeatedKeyHidesNoOtherProblem) {
    const Loaded loaded = load_text(
        "listen: :1\nlisten: 8080\nrouting: {stratgy: random}\nrouting: {hold: maybe}\n"
        "backends: [{url: 'a:1'}]\nbackends: [{url: 'a'}]\n",
        "f");
    std::string all;
    for (const Problem& problem : loaded.problems) {
        all += to_string(problem) + "\n";
    }
    for (const auto* told :
         {"f:2: key 'listen' is already in line 1", "f:2: listen: '8080'",
          "f:3: unknown key 'stratgy'", "f:4: key 'routing' is already in line 3",
          "f:4: routing.hold: 'maybe'", "f:6: key 'backends' is already in line 5",
          "f:6: backends[0].url:"}) {
        EXPECT_THAT(all, HasSubstr(told));
    }
    EXPECT_THAT(loaded.problems, SizeIs(7));
}

TEST(HostileYaml, ThousandsOfUnknownKeysAreAllNamed) {
    std::string yaml;
    for (int i = 0; i < 1'000; ++i) {
        yaml += "unknown" + std::to_string(i) + ": 1\n";
    }
    EXPECT_THAT(load_text(yaml, "f").problems, SizeIs(1'001));  // and backends is missing
}

TEST(HostileYaml, BytesThatAreNoTextAreRefusedWithTheirLine) {
    EXPECT_THAT(first_problem(std::string("a: b\nc: \0\n", 10)), HasSubstr("f:2: "));
    EXPECT_THAT(first_problem("\xff\xfe"
                              "a\0"),
                HasSubstr("f:1: holds bytes that are not UTF-8"));
    EXPECT_THAT(first_problem("\x7f"
                              "ELF\x02\x01\x01"),
                HasSubstr("f:1: "));
}

TEST(HostileYaml, TagsComplexKeysAndSecondDocumentsAreRefused) {
    EXPECT_THAT(first_problem("listen: !!binary aGVsbG8=\n"), HasSubstr("f:1: the tag"));
    EXPECT_THAT(first_problem("? [a, b]\n: c\n"), HasSubstr("f:1: a key must be a plain word"));
    EXPECT_THAT(first_problem("? {a: b}\n: c\n"), HasSubstr("a key must be a plain word"));
    EXPECT_THAT(first_problem("a: b\n---\nc: d\n"), HasSubstr("f: text after the end"));
}

TEST(HostileYaml, ThatIsNoMapIsRefused) {
    for (const auto* text :
         {"", "\n", "# only a comment\n", "just words", "- a\n- b\n", "[]", "~", "\xef\xbb\xbf"}) {
        EXPECT_THAT(first_problem(text), HasSubstr("must be a map")) << text;
    }
}

TEST(HostileYaml, SyntaxErrorsNameTheirLineAndTheWayOut) {
    EXPECT_THAT(first_problem("a: 1\nlisten: [::1]:8080\n"), HasSubstr("f:2: "));
    EXPECT_THAT(first_problem("listen: [::1]:8080\n"), HasSubstr("in quotes"));
    EXPECT_THAT(first_problem("routing:\n\tstrategy: random\n"), HasSubstr("not with tabs"));
}

TEST(HostileYaml, LongValuesAreCutInMessages) {
    const std::string problem =
        first_problem("backends: [{url: 'a:1'}]\nlisten: " + std::string(100'000, 'x') + "\n");
    EXPECT_LT(problem.size(), 400U);
}

}  // namespace
}  // namespace prefix_router::config
