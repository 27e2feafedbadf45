#include "chat_load/answer_check.hpp"

#include <string>

#include <gtest/gtest.h>

namespace prefix_router::chat_load {
namespace {

// FNV-1a of "foobar" is bf9cf968.
const std::string kDelta =
    R"(data: {"system_fingerprint":"engine-sim","choices":[{"delta":{"content":"bf9cf968 abc"}}]})"
    "\n\n";
const std::string kStop = R"(data: {"choices":[{"delta":{},"finish_reason":"stop"}]})"
                          "\n\n";
const std::string kUsage =
    R"(data: {"choices":[],"usage":{"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":5}}})"
    "\n\n";
const std::string kDone = "data: [DONE]\n\n";

Verdict verdict_of(const std::string& stream, const std::string& question = "foobar",
                   std::size_t tokens = 3) {
    AnswerCheck check(true, question, tokens);
    check.feed(stream);
    return check.finish();
}

TEST(AnswerCheck, AcceptsAWholeStreamHoweverItIsCut) {
    const std::string stream = kDelta + kStop + kUsage + kDone;
    for (const std::size_t piece : {1U, 3U, 50U, 1000U}) {
        AnswerCheck check(true, "foobar", 3);
        for (std::size_t at = 0; at < stream.size(); at += piece) {
            check.feed(std::string_view(stream).substr(at, piece));
        }
        EXPECT_EQ(check.finish(), Verdict::Good) << piece;
        EXPECT_EQ(check.text(), "bf9cf968 abc");
        EXPECT_EQ(check.prompt_tokens(), 9U);
        EXPECT_EQ(check.cached_tokens(), 5U);
    }
}

TEST(AnswerCheck, SeesAStreamThatEndedTooSoon) {
    EXPECT_EQ(verdict_of(kDelta + kStop), Verdict::Truncated);
    EXPECT_EQ(verdict_of(kDelta + kDone), Verdict::Truncated);
    EXPECT_EQ(verdict_of(kDelta + kStop + kDone + "data: {"), Verdict::Truncated);
}

TEST(AnswerCheck, SeesAnErrorEventBeforeDone) {
    EXPECT_EQ(verdict_of(kDelta + "data: {\"error\":{\"code\":500}}\n\n" + kDone),
              Verdict::ErrorEvent);
}

TEST(AnswerCheck, SeesTheAnswerToAnotherQuestion) {
    const std::string stream = kDelta + kStop + kDone;
    EXPECT_EQ(verdict_of(stream, "another"), Verdict::WrongText);
    EXPECT_EQ(verdict_of(stream, "foobar", 4), Verdict::WrongText);
}

TEST(AnswerCheck, JudgesOnlyTheFormOfOtherEngines) {
    EXPECT_EQ(verdict_of(R"(data: {"choices":[{"delta":{"content":"Hi"}}]})"
                         "\n\n" +
                         kStop + kDone),
              Verdict::Good);
}

TEST(AnswerCheck, SeesWhatIsNoAnswer) {
    EXPECT_EQ(verdict_of("data: oops\n\n" + kStop + kDone), Verdict::Malformed);
    AnswerCheck whole(false, "foobar", 3);
    whole.feed("<html>");
    EXPECT_EQ(whole.finish(), Verdict::Malformed);
}

TEST(AnswerCheck, ReadsAnAnswerThatIsNoStream) {
    AnswerCheck check(false, "foobar", 3);
    EXPECT_TRUE(check.feed(R"({"system_fingerprint":"engine-sim","choices":[{"message":)"));
    check.feed(
        R"({"content":"bf9cf968 abc"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9}})");
    EXPECT_EQ(check.finish(), Verdict::Good);
    EXPECT_EQ(check.prompt_tokens(), 9U);
}

TEST(AnswerCheck, CountsNeitherCommentsNorPingsAsTheFirstByte) {
    AnswerCheck check(true, "foobar", 3);
    EXPECT_FALSE(check.feed(": keep-alive\n\n"));
    EXPECT_FALSE(check.feed("event: ping\ndata: {}\n\n"));
    EXPECT_TRUE(check.feed(kDelta));
}

}  // namespace
}  // namespace prefix_router::chat_load
