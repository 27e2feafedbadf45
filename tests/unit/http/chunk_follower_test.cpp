#include "prefix_router/http/chunk_follower.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "prefix_router/base/random.hpp"
#include "prefix_router/http/chunk_encoder.hpp"

namespace prefix_router::http {
namespace {

using std::string_literals::operator""s;

struct Followed {
    std::string payload;
    std::size_t consumed = 0;
    bool is_done = false;
    bool is_broken = false;
};

void feed(ChunkFollower& follower, std::string_view bytes, Followed& followed) {
    std::string_view rest = bytes;
    for (auto piece = follower.next(rest); !piece.empty(); piece = follower.next(rest)) {
        followed.payload += piece;
    }
    followed.consumed += bytes.size() - rest.size();
    followed.is_done = follower.is_done();
    followed.is_broken = follower.is_broken();
}

Followed follow(std::string_view bytes, std::size_t cut = 0) {
    ChunkFollower follower;
    Followed followed;
    feed(follower, bytes.substr(0, cut), followed);
    feed(follower, bytes.substr(cut), followed);
    return followed;
}

TEST(ChunkFollower, YieldsThePayloadAndStopsAtTheEndWhereverTheBytesAreCut) {
    const std::string message =
        "5\r\nhello\r\n00a;x=\"y z\";q\r\n, \r\nworld!\r\n0 ;e\r\n"
        "X-Sum: 1\r\nEmpty:\r\n\r\n";
    const std::string next = "GET / HTTP/1.1\r\n";
    for (std::size_t cut = 0; cut <= message.size(); ++cut) {
        const Followed followed = follow(message + next, cut);
        EXPECT_EQ(followed.payload, "hello, \r\nworld!") << cut;
        EXPECT_TRUE(followed.is_done) << cut;
        EXPECT_EQ(followed.consumed, message.size()) << cut;
    }
}

TEST(ChunkFollower, IsNotDoneWhileAnyByteIsMissing) {
    const std::string message = "5\r\nhello\r\n0\r\nA: b\r\n\r\n";
    for (std::size_t size = 0; size < message.size(); ++size) {
        const Followed followed = follow(message.substr(0, size));
        EXPECT_FALSE(followed.is_done) << size;
        EXPECT_FALSE(followed.is_broken) << size;
        EXPECT_EQ(followed.consumed, size);
    }
}

TEST(ChunkFollower, BreaksOnEverythingThatCanBeReadInTwoWays) {
    const std::vector<std::string> bad = {
        "\r\n",
        " 5\r\nhello\r\n",
        "-1\r\n",
        "+5\r\nhello\r\n",
        "0x5\r\nhello\r\n",
        "g\r\n",
        ";x\r\n",
        "5 5\r\n",
        "5 \r\n",
        "5\nhello\r\n",
        "5\rhello\r\n",
        "5\r\r\n",
        "5;a\nb\r\n",
        "5;a\rb\r\n",
        "5;a\0b\r\n"s,
        "5\r\nhelloX",
        "5\r\nhello\n",
        "5\r\nhello\rX",
        "10000000000000001\r\n",
        "ffffffffffffffff\r\n",
        "00000000000000005\r\n",
        "0\r\nX",
        "0\r\n folded: 1\r\n\r\n",
        "0\r\nA: b\r\n c\r\n\r\n",
        "0\r\nno colon\r\n",
        "0\r\n: b\r\n",
        "0\r\nA : b\r\n",
        "0\r\nA: b\nC: d\r\n",
        "0\r\nA: b\0\r\n"s,
        "0\r\n\rX",
        "0\n\n",
    };
    for (std::string message : bad) {
        if (message == "0\r\nX") {
            message += "\r\n";  // a field line without a colon
        }
        for (std::size_t cut = 0; cut <= message.size(); ++cut) {
            EXPECT_TRUE(follow(message, cut).is_broken) << message << ", cut at " << cut;
        }
    }
}

TEST(ChunkFollower, BoundsExtensionsAndTrailersThatPayloadDoesNotOutweigh) {
    const std::string big(17'000, 'x');
    EXPECT_TRUE(follow("5;" + big + "\r\nhello\r\n").is_broken);
    EXPECT_TRUE(follow("0\r\nA: " + big + "\r\n\r\n").is_broken);
    std::string many;
    for (int i = 0; i < 20; ++i) {
        many += "1;" + std::string(1'000, 'x') + "\r\na\r\n";
    }
    EXPECT_TRUE(follow(many).is_broken);
    std::string streamed;  // a small extension per chunk may go on for ever
    for (int i = 0; i < 5'000; ++i) {
        streamed += "8;t=12\r\nabcdefgh\r\n";
    }
    EXPECT_TRUE(follow(streamed + "0\r\n\r\n").is_done);
}

TEST(ChunkFollower, BeginsAnewAfterReset) {
    ChunkFollower follower;
    Followed followed;
    feed(follower, "zz", followed);
    EXPECT_TRUE(followed.is_broken);
    follower.reset();
    feed(follower, "1\r\na\r\n0\r\n\r\n", followed);
    EXPECT_TRUE(followed.is_done);
    EXPECT_EQ(followed.payload, "a");
}

TEST(ChunkFollower, DoesNothingOnceDoneOrBroken) {
    ChunkFollower follower;
    std::string_view rest = "0\r\n\r\n5\r\nhello";
    EXPECT_EQ(follower.next(rest), "");
    EXPECT_EQ(follower.next(rest), "");
    EXPECT_EQ(rest, "5\r\nhello");
}

// Property: what the encoder writes, the follower reads back, however the bytes are cut.
TEST(ChunkFollower, ReadsBackWhatTheEncoderWritesUnderRandomCuts) {
    const std::uint64_t seed = seed_from_system();
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    for (int round = 0; round < 300; ++round) {
        std::string payload;
        std::string message;
        for (std::uint64_t chunks = random.below(12); chunks > 0; --chunks) {
            std::string chunk(1 + random.below(random.below(8) == 0 ? 5'000 : 20), '\0');
            for (char& c : chunk) {
                c = static_cast<char>("\r\n0a;:"[random.below(6)]);
            }
            payload += chunk;
            message.append(ChunkSizeLine(chunk.size()).view()).append(chunk).append(kChunkEnd);
        }
        message += kLastChunk;
        ChunkFollower follower;
        Followed followed;
        for (std::size_t at = 0; at < message.size();) {
            const std::size_t size = 1 + random.below(random.below(2) == 0 ? 4 : 3'000);
            feed(follower, std::string_view(message).substr(at, size), followed);
            at += size;
        }
        ASSERT_TRUE(followed.is_done);
        ASSERT_EQ(followed.payload, payload);
        ASSERT_EQ(followed.consumed, message.size());
    }
}

TEST(ChunkSizeLine, WritesHexadecimal) {
    EXPECT_EQ(ChunkSizeLine(1).view(), "1\r\n");
    EXPECT_EQ(ChunkSizeLine(0x1a2b).view(), "1a2b\r\n");
    EXPECT_EQ(ChunkSizeLine(~std::uint64_t{0}).view(), "ffffffffffffffff\r\n");
}

}  // namespace
}  // namespace prefix_router::http
