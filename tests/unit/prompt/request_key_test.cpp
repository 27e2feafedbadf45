#include <algorithm>

#include <gtest/gtest.h>

#include "unit/prompt/prompt_samples.hpp"

namespace prefix_router::prompt::test {
namespace {

std::string user_body(const std::string& text) {
    return R"({"model":"m","messages":[{"role":"user","content":")" + text + R"("}]})";
}

std::string prompt_body(const std::string& text) {
    return R"({"prompt":")" + text + R"("})";
}

std::size_t common(const PromptKey& a, const PromptKey& b) {
    const std::size_t limit = std::min(a.size(), b.size());
    std::size_t count = 0;
    while (count < limit && a.hashes[count] == b.hashes[count]) ++count;
    return count;
}

TEST(PromptKey, BlocksGrowWithDepth) {
    const PromptKey key = key_of(Dialect::OpenAiCompletions, prompt_body(std::string(70'000, 'x')));
    ASSERT_EQ(key.size(), 32U + 56U + 2U);
    EXPECT_EQ(key.ends[31], 8192U);
    EXPECT_EQ(key.ends[32], 9216U);
    EXPECT_EQ(key.ends[87], 65'536U);
    EXPECT_EQ(key.ends[88], 69'632U);
    EXPECT_EQ(key.ends[89], 70'000U);
    EXPECT_EQ(key.total, 70'000U);
}

TEST(PromptKey, AMessageEndClosesABlock) {
    // 594 bytes of text, the marks and the role are 6 more.
    const PromptKey key = key_of(Dialect::OpenAiChat, user_body(std::string(594, 'x')));
    EXPECT_EQ(key.ends, (std::vector<std::uint32_t>{256, 512, 600}));
}

TEST(PromptKey, SharesBlocksUpToTheFirstDifference) {
    std::string text = words(1, 2000);
    const PromptKey first = key_of(Dialect::OpenAiCompletions, prompt_body(text));
    text[3000] = '#';
    const PromptKey second = key_of(Dialect::OpenAiCompletions, prompt_body(text));
    EXPECT_EQ(common(first, second), 3000U / 256);
}

TEST(PromptKey, HistoryIsAPrefixOfTheNextTurn) {
    const std::string history = R"({"messages":[{"role":"system","content":")" + words(1, 700) +
                                R"("},{"role":"user","content":"one"})";
    const PromptKey first = key_of(Dialect::OpenAiChat, history + "]}");
    const PromptKey second = key_of(
        Dialect::OpenAiChat,
        history + R"(,{"role":"assistant","content":"two"},{"role":"user","content":"three"}]})");
    EXPECT_TRUE(begins_with(second, first.hashes));
}

TEST(PromptKey, SeedChangesEveryHashButNotTheHome) {
    RequestReader reader({.hash_seed = kSeed + 1});
    const std::string body = user_body(words(1, 300));
    const PromptKey& other = reader.read(Dialect::OpenAiChat, body).key;
    const PromptKey key = key_of(Dialect::OpenAiChat, body);
    EXPECT_EQ(common(key, other), 0U);
    EXPECT_EQ(key.ends, other.ends);
    EXPECT_EQ(key.home, other.home);
    EXPECT_EQ(key.fixed_prefix, other.fixed_prefix);
}

TEST(PromptHome, IsFixedByTheFirstUserMessage) {
    const std::string system = R"({"role":"system","content":")" + words(1, 2500) + R"("})";
    const auto body = [&](const char* first, const char* more) {
        return R"({"messages":[)" + system + R"(,{"role":"user","content":")" + first + R"("})" +
               more + "]}";
    };
    const std::uint64_t home = key_of(Dialect::OpenAiChat, body("a", "")).home;
    EXPECT_NE(home, 0U);
    EXPECT_EQ(
        home,
        key_of(Dialect::OpenAiChat,
               body("a", R"(,{"role":"assistant","content":"b"},{"role":"user","content":"c"})"))
            .home);
    EXPECT_NE(home, key_of(Dialect::OpenAiChat, body("b", "")).home);
}

TEST(PromptHome, OfAPlainPromptLooksAtFourKilobytes) {
    std::string text = words(1, 3000);
    const std::uint64_t home = key_of(Dialect::OpenAiCompletions, prompt_body(text)).home;
    text[5000] = '#';
    EXPECT_EQ(home, key_of(Dialect::OpenAiCompletions, prompt_body(text)).home);
    text[10] = '#';
    EXPECT_NE(home, key_of(Dialect::OpenAiCompletions, prompt_body(text)).home);
}

TEST(PromptKey, APictureCountsForAFixedNumberOfUnits) {
    const auto body = [](const std::string& url, const std::string& text) {
        return R"({"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":")" +
               url + R"("}},{"type":"text","text":")" + text + R"("}]}]})";
    };
    const std::string data = "data:image/png;base64," + std::string(8'000'000, 'A');
    const PromptKey first = key_of(Dialect::OpenAiChat, body(data, "one"));
    const PromptKey second = key_of(Dialect::OpenAiChat, body(data, "two"));
    EXPECT_LT(first.size(), 5U);
    EXPECT_LT(first.total, 5000U);
    EXPECT_GT(first.total, 4000U);
    EXPECT_EQ(common(first, second), first.size() - 1);
    const PromptKey other = key_of(Dialect::OpenAiChat, body(data + "B", "one"));
    EXPECT_EQ(common(first, other), 1U);  // only what stands before the picture
}

TEST(PromptKey, TokenIdsAreUnits) {
    std::string ids = "[";
    for (int i = 0; i < 1500; ++i) ids += (i == 0 ? "" : ",") + std::to_string(i * 83 % 120'000);
    const auto body = [&](const char* tail) { return R"({"prompt":)" + ids + tail + "]}"; };
    const PromptKey first = key_of(Dialect::OpenAiCompletions, body(",1,2"));
    const PromptKey second = key_of(Dialect::OpenAiCompletions, body(",3,4"));
    EXPECT_TRUE(first.is_tokens);
    EXPECT_EQ(first.total, 1502U);
    EXPECT_EQ(first.ends.front(), 64U);
    EXPECT_EQ(first.ends.back(), 1502U);
    EXPECT_EQ(common(first, second), 1500U / 64);
}

TEST(PromptKey, AMillionMessagesDoNotMakeAMillionBlocks) {
    std::string body = R"({"messages":[)";
    for (int i = 0; i < 50'000; ++i) body += (i == 0 ? "" : ",") + std::string("{}");
    const std::string first_body = body + "]}";
    const PromptKey first = key_of(Dialect::OpenAiChat, first_body);
    EXPECT_LT(first.size(), 4200U);
    EXPECT_EQ(first.total, 100'000U);
    EXPECT_TRUE(std::is_sorted(first.ends.begin(), first.ends.end()));
    // What follows still chains on what came before.
    const PromptKey second =
        key_of(Dialect::OpenAiChat, body + R"(,{"role":"user","content":"x"}]})");
    EXPECT_GE(common(first, second) + 1, first.size());
    EXPECT_EQ(
        common(second, key_of(Dialect::OpenAiChat, body + R"(,{"role":"user","content":"x"}]})")),
        second.size());
}

std::string repeated(const char* element, int count) {
    std::string all = element;
    for (int i = 1; i < count; ++i) all += std::string(",") + element;
    return all;
}

TEST(PromptKey, AMillionEmptyPartsDoNotMakeAMillionBlocks) {
    const std::string parts = R"({"messages":[{"role":"user","content":[)";
    const std::string many = parts + repeated("{}", 50'000);
    const std::string pictures = repeated(R"({"images":[1]})", 50'000);
    const PromptKey pictured = key_of(Dialect::OllamaChat, R"({"messages":[)" + pictures + "]}");
    const PromptKey first = key_of(Dialect::OpenAiChat, many + "]}]}");
    for (const PromptKey& key : {first, pictured}) {
        EXPECT_LT(key.size(), 4'500U);
        EXPECT_LT(key.total, 5'000'000U) << "a body of 150 KB";
        EXPECT_TRUE(std::is_sorted(key.ends.begin(), key.ends.end()));
    }
    // What follows still chains on what came before, each part on its own.
    const PromptKey second = key_of(Dialect::OpenAiChat, many + R"(,{"a":1},{"b":1}]}]})");
    const PromptKey third = key_of(Dialect::OpenAiChat, many + R"(,{"b":1},{"a":1}]}]})");
    EXPECT_GE(common(first, second) + 1, first.size());
    EXPECT_NE(second.hashes.back(), third.hashes.back());
}

TEST(FixedPrefix, CountsCharactersOfTheMessagesText) {
    RequestReader reader({.hash_seed = 1, .fixed_prefix_length = 1024});
    const auto prefix = [&](const std::string& text) {
        return reader.read(Dialect::OpenAiChat, user_body(text)).key.fixed_prefix;
    };
    std::string euros;
    for (int i = 0; i < 1000; ++i) euros += "\u20ac";
    const std::string fill = euros + "\\n\\\"\\u20ac/" + std::string(20, 'a');
    EXPECT_EQ(prefix(fill + "x"), prefix(fill + "y"));
    EXPECT_NE(prefix(fill.substr(0, fill.size() - 1) + "x"),
              prefix(fill.substr(0, fill.size() - 1) + "y"));
    std::string escaped;
    for (int i = 0; i < 1000; ++i) escaped += "\\u20ac";
    EXPECT_EQ(prefix(euros + "same"), prefix(escaped + "same"));
}

TEST(FixedPrefix, SpansMessages) {
    RequestReader reader({.hash_seed = 1, .fixed_prefix_length = 1024});
    const auto prefix = [&](const std::string& second) {
        return reader
            .read(Dialect::OpenAiChat, R"({"messages":[{"role":"system","content":")" +
                                           std::string(1000, 's') +
                                           R"("},{"role":"user","content":")" + second + R"("}]})")
            .key.fixed_prefix;
    };
    EXPECT_EQ(prefix(std::string(24, 'u') + "x"), prefix(std::string(24, 'u') + "y"));
    EXPECT_NE(prefix(std::string(23, 'u') + "x"), prefix(std::string(23, 'u') + "y"));
}

TEST(FixedPrefix, OfOtherBodiesIsTheirFirstBytes) {
    RequestReader reader({.hash_seed = 1, .fixed_prefix_length = 1024});
    const auto prefix = [&](const std::string& text) {
        return reader.read(Dialect::OpenAiCompletions, prompt_body(text)).key.fixed_prefix;
    };
    const std::string fill(1024 - prompt_body("").size() + 2, 'a');  // up to byte 1024
    EXPECT_EQ(prefix(fill + "x"), prefix(fill + "y"));
    EXPECT_NE(prefix(fill.substr(1) + "x"), prefix(fill.substr(1) + "y"));
}

TEST(FixedPrefix, OfABodyThatIsNotUnderstoodIsItsFirstBytes) {
    RequestReader reader({.hash_seed = 1, .fixed_prefix_length = 1024});
    const std::string fill(1024, 'a');
    for (const auto& [dialect, begin] :
         {std::pair{Dialect::SageMakerInvocations, R"({"instances":[")"},
          std::pair{Dialect::OpenAiChat, R"({"conversation":")"},
          std::pair{Dialect::OpenAiCompletions, "no JSON: "}}) {
        const auto prefix = [&](const std::string& text) {
            const PromptKey& key = reader.read(dialect, begin + text).key;
            EXPECT_TRUE(key.empty());
            return key.fixed_prefix;
        };
        EXPECT_NE(prefix(fill), 0U);
        EXPECT_EQ(prefix(fill + "x"), prefix(fill + "y"));
        EXPECT_NE(prefix("x" + fill), prefix("y" + fill));
    }
    EXPECT_EQ(reader.read(Dialect::OpenAiChat, "").key.fixed_prefix, 0U);
}

TEST(FixedPrefix, TheHeadersIdGoesBeforeTheBodys) {
    const auto prefix = [](std::string_view id, const char* key) {
        const std::string body = std::string(R"({"prompt_cache_key":")") + key +
                                 R"(","messages":[{"role":"user","content":"x"}]})";
        return read(Dialect::OpenAiChat, body, id).key.fixed_prefix;
    };
    EXPECT_EQ(prefix("a", "b"), prefix("a", "c"));
    EXPECT_NE(prefix("", "b"), prefix("", "c"));
    EXPECT_EQ(prefix("", "b"), prefix("b", "c"));
}

}  // namespace
}  // namespace prefix_router::prompt::test
