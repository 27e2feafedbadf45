#include "prefix_router/app/command_line.hpp"

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace prefix_router::app {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Parsed {
    Command command;
    std::string out;
    std::string err;
};

Parsed parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "prefix-router");
    std::ostringstream out;
    std::ostringstream err;
    auto command = parse_command_line(arguments, out, err);
    return {std::move(command), out.str(), err.str()};
}

int exit_code(const Parsed& parsed) {
    const auto* exit = std::get_if<Exit>(&parsed.command);
    return exit ? exit->code : -1;
}

TEST(CommandLine, BackendsAloneServeOnTheDefaultPorts) {
    const auto parsed =
        parse({"--backend", "http://127.0.0.1:9001", "--backend", "127.0.0.1:9002"});
    const auto* serve = std::get_if<Serve>(&parsed.command);
    ASSERT_NE(serve, nullptr) << parsed.err;
    EXPECT_EQ(serve->config.listen.host, "0.0.0.0");
    EXPECT_EQ(serve->config.listen.port, 8080);
    ASSERT_EQ(serve->config.backends.size(), 2U);
    EXPECT_EQ(serve->config.backends[1].url.port, 9002);
    EXPECT_EQ(serve->config.routing.strategy, config::Strategy::Adaptive);
    EXPECT_TRUE(serve->config.admin_is_optional);
}

TEST(CommandLine, AnAdminPortThatIsAskedForMustBeFree) {
    const auto parsed = parse({"-b", "127.0.0.1:9001", "--admin", "127.0.0.1:9300"});
    const auto* serve = std::get_if<Serve>(&parsed.command);
    ASSERT_NE(serve, nullptr) << parsed.err;
    EXPECT_FALSE(serve->config.admin_is_optional);
}

TEST(CommandLine, QuickStartFlagsReachTheConfiguration) {
    const auto parsed = parse({"-b", "127.0.0.1:9001", "--listen", "127.0.0.1:0", "--admin", "off",
                               "--strategy", "prefix_aware", "--threads", "3", "--log-level",
                               "debug", "--log-format", "json", "--access-log", "off"});
    const auto* serve = std::get_if<Serve>(&parsed.command);
    ASSERT_NE(serve, nullptr) << parsed.err;
    EXPECT_FALSE(serve->config.admin.has_value());
    EXPECT_EQ(serve->config.threads, 3U);
    EXPECT_EQ(serve->config.routing.strategy, config::Strategy::PrefixAware);
    EXPECT_EQ(serve->config.log.level, "debug");
    EXPECT_EQ(serve->config.log.format, LogFormat::Json);
    EXPECT_EQ(serve->config.log.access, "off");
}

TEST(CommandLine, NoBackendsIsAnErrorThatSaysWhatToGive) {
    const auto parsed = parse({});
    EXPECT_EQ(exit_code(parsed), 2);
    EXPECT_THAT(parsed.err, HasSubstr("--backend"));
}

TEST(CommandLine, AnUnknownStrategyIsNamed) {
    const auto parsed = parse({"-b", "127.0.0.1:9001", "--strategy", "adaptiv"});
    EXPECT_EQ(exit_code(parsed), 2);
    EXPECT_THAT(parsed.err, HasSubstr("command line: routing.strategy: 'adaptiv'"));
}

TEST(CommandLine, AFileAndQuickStartFlagsExcludeEachOther) {
    const auto parsed = parse({"--config", "x.yaml", "--backend", "127.0.0.1:9001"});
    EXPECT_EQ(exit_code(parsed), 2);
}

TEST(CommandLine, AMisspeltOptionIsToldWithWhatWasMeant) {
    for (const auto& [word, meant] :
         std::vector<std::pair<const char*, const char*>>{{"--bakend", "--backend?"},
                                                          {"--listne=:1", "--listen?"},
                                                          {"--adimn", "--admin?"},
                                                          {"chekc", "check?"}}) {
        const auto parsed = parse({word, "x"});
        EXPECT_EQ(exit_code(parsed), 2);
        EXPECT_THAT(parsed.err, StartsWith("prefix-router: un")) << word;
        EXPECT_THAT(parsed.err, HasSubstr(word));
        EXPECT_THAT(parsed.err, HasSubstr(std::string("did you mean ") + meant));
    }
    EXPECT_THAT(parse({"--nothing-like-it"}).err, Not(HasSubstr("did you mean")));
    EXPECT_THAT(parse({"check", "--confg", "x"}).err, HasSubstr("did you mean --config?"));
}

TEST(CommandLine, AWordWithoutItsOptionIsToldWhichOneItLacks) {
    for (const auto& words :
         std::vector<std::vector<const char*>>{{"router.yaml"}, {"check", "router.yaml"}}) {
        const auto parsed = parse(words);
        EXPECT_EQ(exit_code(parsed), 2);
        EXPECT_THAT(parsed.err,
                    HasSubstr("prefix-router: unexpected argument 'router.yaml'; did you "
                              "mean --config router.yaml?"));
    }
    EXPECT_THAT(parse({"http://a:1"}).err, HasSubstr("did you mean --backend http://a:1?"));
}

TEST(CommandLine, ComplaintsCarryTheProgramsName) {
    for (const auto& words :
         std::vector<std::vector<const char*>>{{},
                                               {"--config", "/no/such"},
                                               {"check", "--config", "/no/such"},
                                               {"--threads", "x"},
                                               {"--config", "x", "-b", "a:1"},
                                               {"-b", "a:1", "--strategy", "adaptiv"},
                                               {"check"}}) {
        EXPECT_THAT(parse(words).err, StartsWith("prefix-router: "));
    }
}

TEST(CommandLine, APortAloneIsToldHowToWriteIt) {
    EXPECT_THAT(parse({"-b", "a:1", "--listen", "8081"}).err,
                AllOf(HasSubstr("\":8081\""), HasSubstr("\"0.0.0.0:8081\"")));
    EXPECT_THAT(parse({"-b", "a:1", "--admin", "9192"}).err, HasSubstr("\":9192\""));
    EXPECT_THAT(parse({"-b", "8000"}).err, HasSubstr("write http://localhost:8000"));
}

TEST(CommandLine, AMissingFileIsAnErrorWithItsName) {
    const auto parsed = parse({"--config", "/no/such/file.yaml"});
    EXPECT_EQ(exit_code(parsed), 2);
    EXPECT_THAT(parsed.err, HasSubstr("/no/such/file.yaml"));
}

TEST(CommandLine, ReplayKeepsItsArguments) {
    const auto parsed = parse({"replay", "--trace", "x.jsonl", "--json"});
    const auto* replay = std::get_if<Replay>(&parsed.command);
    ASSERT_NE(replay, nullptr);
    EXPECT_THAT(replay->arguments, ElementsAre("--trace", "x.jsonl", "--json"));
}

TEST(CommandLine, HelpAndVersionSucceed) {
    EXPECT_EQ(exit_code(parse({"--help"})), 0);
    const auto version = parse({"--version"});
    EXPECT_EQ(exit_code(version), 0);
    EXPECT_THAT(version.out, HasSubstr("prefix-router 0."));
}

}  // namespace
}  // namespace prefix_router::app
