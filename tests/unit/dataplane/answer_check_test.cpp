#include "dataplane/answer_check.hpp"

#include <cstdio>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace prefix_router::dataplane {
namespace {

using State = AnswerCheck::State;

constexpr std::uint64_t kHash = 0x1234'5678'9abc'def0;
constexpr Wish kTwoEvents{true, 2, 0};
constexpr Wish kThreeEvents{true, 3, 0};
const std::string kStreamHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

std::string sized(const std::string& body) {
    return "HTTP/1.1 200 OK\r\ncontent-length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string chunk(std::string_view text) {
    char size[24];
    std::snprintf(size, sizeof size, "%zx\r\n", text.size());
    return size + std::string(text) + "\r\n";
}

/// Two events, stamped 100 and 200, and the end.
std::string stream() {
    std::string event = first_event(kHash);
    stamp_event(event, 100);
    std::string all = kStreamHead + chunk(event);
    number_event(event, 1);
    stamp_event(event, 200);
    return all + chunk(event) + chunk(kStreamEnd) + "0\r\n\r\n";
}

State check(const Wish& wish, const std::string& bytes, std::size_t step) {
    AnswerCheck check;
    check.begin(wish, kHash);
    std::vector<std::uint64_t> delays;
    State state = State::Open;
    for (std::size_t at = 0; at < bytes.size() && state == State::Open; at += step)
        state = check.feed(std::string_view(bytes).substr(at, step), 1000, delays);
    return state == State::Open ? check.end() : state;
}

TEST(AnswerCheck, TakesTheAnswerInAnyPieces) {
    const std::string json = sized(json_answer(kHash));
    const std::string events = stream();
    for (const std::size_t step : {1UL, 7UL, 150UL, 100'000UL}) {
        EXPECT_EQ(check(Wish(), json, step), State::Complete) << step;
        EXPECT_EQ(check(kTwoEvents, events, step), State::Complete) << step;
    }
}

TEST(AnswerCheck, SeesEachByteThatIsNotTheBackends) {
    for (const Wish& wish : {Wish(), kTwoEvents}) {
        const std::string whole = wish.streams ? stream() : sized(json_answer(kHash));
        const std::size_t body = whole.find("\r\n\r\n") + 4;
        for (std::size_t at = body; at < whole.size(); ++at) {
            std::string changed = whole;
            changed[at] = static_cast<char>(changed[at] ^ 1);
            const std::size_t from_stamp = whole.rfind(R"("t":")", at);
            const bool is_stamp = wish.streams && from_stamp != std::string::npos &&
                                  at >= from_stamp + 5 && at < from_stamp + 25;
            EXPECT_EQ(check(wish, changed, 64), is_stamp ? State::Complete : State::Wrong) << at;
        }
    }
}

TEST(AnswerCheck, SeesWhatIsMissingOrTooMuch) {
    for (const Wish& wish : {Wish(), kTwoEvents}) {
        const std::string whole = wish.streams ? stream() : sized(json_answer(kHash));
        EXPECT_EQ(check(wish, whole.substr(0, whole.size() - 1), 64), State::Wrong);
        EXPECT_EQ(check(wish, whole + "x", 100'000), State::Wrong);
    }
    EXPECT_EQ(check(kThreeEvents, stream(), 64), State::Wrong);
    EXPECT_EQ(check(Wish(), sized(json_answer(kHash + 1)), 64), State::Wrong);
    EXPECT_EQ(check(Wish(), "HTTP/1.1 502 Bad Gateway\r\ncontent-length: 1\r\n\r\nx", 64),
              State::Wrong);
}

TEST(AnswerCheck, TellsHowLongEachEventTook) {
    AnswerCheck check;
    check.begin(kTwoEvents, kHash);
    std::vector<std::uint64_t> delays;
    check.feed(stream(), 1000, delays);
    EXPECT_EQ(delays, (std::vector<std::uint64_t>{900, 800}));
}

TEST(ExchangeTexts, ABodyHasItsSizeAndSaysWhatItWishes) {
    const std::string body = request_body(3, 2048, Wish{true, 150, 5000});
    const Wish wish = read_wish(body);
    EXPECT_EQ(body.size(), 2048U);
    EXPECT_TRUE(wish.streams);
    EXPECT_EQ(wish.events, 150U);
    EXPECT_EQ(wish.gap_us, 5000U);
}

}  // namespace
}  // namespace prefix_router::dataplane
