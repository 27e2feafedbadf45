#include "prompt/text_escapes.hpp"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "prompt/json_minifier.hpp"

namespace prefix_router::prompt {
namespace {

struct Case {
    const char* raw;
    const char* canonical;
    const char* decoded;
};

const Case kCases[] = {
    {"plain", "plain", "plain"},
    {"a\\nb\\\"c\\\\d", "a\\nb\\\"c\\\\d", "a\nb\"c\\d"},
    {"\\u00e9", "\u00e9", "\u00e9"},
    {"\\u00E9x", "\u00e9x", "\u00e9x"},
    {"\\u20ac", "\u20ac", "\u20ac"},
    {"\\ud83d\\ude00!", "\U0001f600!", "\U0001f600!"},
    {"\\/path\\/", "/path/", "/path/"},
    {"\\u000a\\u0022\\u005c\\u002f", "\\n\\\"\\\\/", "\n\"\\/"},
    {"\\u0001\\u001F", "\\u0001\\u001f", "\x01\x1f"},
    {"\\ud800", "\\ud800", "\xed\xa0\x80"},
    {"a\\uD800b", "a\\ud800b", "a\xed\xa0\x80\x62"},
    {"\\udc00\\ud800", "\\udc00\\ud800", "\xed\xb0\x80\xed\xa0\x80"},
    {"\\ud800\\n", "\\ud800\\n", "\xed\xa0\x80\n"},
    {"\\ud800\\u0041", "\\ud800A", "\xed\xa0\x80\x41"},
    {"\\ud800\\ud83d\\ude00", "\\ud800\U0001f600", "\xed\xa0\x80\U0001f600"},
    {"\\u12", "\\u12", "\\u12"},
    {"\\u12zz", "\\u12zz", "\\u12zz"},
    {"\\u1\\nx", "\\u1\\nx", "\\u1\nx"},
    {"\\ud83d\\u", "\\ud83d\\u", "\xed\xa0\xbd\\u"},
    {"\\q", "\\q", "\\q"},
    {"", "", ""},
};

template <EscapeStyle kStyle>
std::string convert(std::string_view raw, std::size_t piece) {
    std::string out;
    const auto sink = [&out](std::string_view bytes) { out += bytes; };
    EscapeReader<kStyle> reader;
    for (std::size_t at = 0; at < raw.size(); at += piece) reader.feed(raw.substr(at, piece), sink);
    reader.finish(sink);
    return out;
}

TEST(EscapeReader, ConvertsEveryEscapeHoweverItIsCut) {
    for (const Case& c : kCases) {
        for (std::size_t piece = 1; piece <= 14; ++piece) {
            EXPECT_EQ(convert<EscapeStyle::Canonical>(c.raw, piece), c.canonical)
                << c.raw << " by " << piece;
            EXPECT_EQ(convert<EscapeStyle::Decoded>(c.raw, piece), c.decoded)
                << c.raw << " by " << piece;
        }
    }
}

TEST(EscapeReader, CanonicalTextIsAFixedPoint) {
    for (const Case& c : kCases)
        EXPECT_EQ(convert<EscapeStyle::Canonical>(c.canonical, 64), c.canonical);
}

TEST(EscapeReader, ConvertsLongTextAsItDoesSingleBytes) {
    std::mt19937 random(4);
    const std::vector<std::string> pieces = {"a",
                                             "u",
                                             "/",
                                             "\\n",
                                             "\\\"",
                                             "\\\\",
                                             "\\u00e9",
                                             "\\ud83d",
                                             "\\ude00",
                                             "\\/",
                                             "text of some length"};
    for (int round = 0; round < 500; ++round) {
        std::string raw;
        for (std::size_t n = random() % 40; n > 0; --n) raw += pieces[random() % pieces.size()];
        const std::size_t whole = raw.size() + 1;
        ASSERT_EQ(convert<EscapeStyle::Canonical>(raw, whole),
                  convert<EscapeStyle::Canonical>(raw, 1))
            << raw;
        ASSERT_EQ(convert<EscapeStyle::Decoded>(raw, whole), convert<EscapeStyle::Decoded>(raw, 1))
            << raw;
    }
}

TEST(DecodeText, StopsAtTheEndOfTheBuffer) {
    char buffer[3];
    EXPECT_EQ(decode_text("\\u20acabc", buffer), "\u20ac");
}

std::string minify(std::string_view text, std::size_t piece) {
    std::string out;
    const auto sink = [&out](std::string_view bytes) { out += bytes; };
    JsonMinifier minifier;
    for (std::size_t at = 0; at < text.size(); at += piece)
        minifier.feed(text.substr(at, piece), sink);
    minifier.finish(sink);
    return out;
}

TEST(JsonMinifier, DropsWhiteSpaceOutsideStringsOnlyHoweverItIsCut) {
    const std::string_view text =
        " { \"a b\" : [ 1 ,\n2.50, true ] ,\t\"\\u00e9\\/\" : \"x \\\" \\ud83d\\ude00 \\\\\" , "
        "\"lone\":\"\\ud83d\" } ";
    const std::string_view expected =
        "{\"a b\":[1,2.50,true],\"\u00e9/\":\"x \\\" \U0001f600 \\\\\",\"lone\":\"\\ud83d\"}";
    for (std::size_t piece = 1; piece <= text.size(); ++piece)
        EXPECT_EQ(minify(text, piece), expected) << piece;
}

TEST(JsonMinifier, GivesBrokenTextTheSameResultHoweverItIsCut) {
    for (const std::string_view text :
         {"{\"a\": \"open", "\"\\u12\" x", "\"a\\", "} ] : \" \\ud83d\\"})
        for (std::size_t piece = 1; piece <= text.size(); ++piece)
            EXPECT_EQ(minify(text, piece), minify(text, text.size())) << text << " by " << piece;
}

}  // namespace
}  // namespace prefix_router::prompt
