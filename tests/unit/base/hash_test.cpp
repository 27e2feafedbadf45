#include "prefix_router/base/hash.hpp"

#include <bit>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace prefix_router {
namespace {

// Hashes that move empty every cache after an upgrade and change every default backend id: a
// failure here is not to be fixed by new numbers.
TEST(HashBytes, IsXxh3AndPinned) {
    EXPECT_EQ(hash_bytes("", 0), 0x2d06800538d394c2U);  // xxHash's own test vector
    EXPECT_EQ(hash_bytes("http://127.0.0.1:8000", 0) >> 32, 0x459c5878U);
    EXPECT_EQ(hash_bytes(std::string(16, 'a'), 42), 0x47de17c7907c33dfU);
    EXPECT_EQ(hash_bytes(std::string(200, 'a'), 42), 0x4ec9faf800eb1e11U);
    EXPECT_EQ(hash_bytes(std::string(100'000, 'a'), 42), 0x8a5bd8f821a2e963U);
}

TEST(HashBytes, DependsOnSeedLengthAndEveryByte) {
    const std::string text(300, 'x');
    std::set<std::uint64_t> seen{hash_bytes(text, 0), hash_bytes(text, 1)};
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::string changed = text;
        changed[i] = 'y';
        seen.insert(hash_bytes(changed, 0));
        seen.insert(hash_bytes(text.substr(0, i), 0));
    }
    EXPECT_EQ(seen.size(), 2 + 2 * text.size());
}

TEST(HashBytes, TakesAnEmptyViewWithoutStorage) {
    EXPECT_EQ(hash_bytes(std::string_view(), 5), hash_bytes("", 5));
}

TEST(KeyedHash, DependsOnItsKeyAndIsPinned) {
    const KeyedHash one(1);
    const std::string text(300, 'x');
    EXPECT_NE(one(text), KeyedHash(2)(text));
    EXPECT_EQ(one(text), KeyedHash(1)(text));
    // Long inputs under a derived secret hash as under the seed that it is derived from.
    EXPECT_EQ(one(text), hash_bytes(text, 1));
}

TEST(RunningHash, EqualsTheHashOfThePiecesJoined) {
    std::string text;
    for (int i = 0; i < 5000; ++i) text += static_cast<char>('a' + i * 7 % 26);
    const KeyedHash keyed(9);
    RunningHash running;
    for (const std::size_t size : {0U, 1U, 16U, 200U, 240U, 241U, 1024U, 4999U}) {
        for (const std::size_t piece : {1U, 7U, 256U, 5000U}) {
            const std::string_view whole = std::string_view(text).substr(0, size);
            const auto add_all = [&] {
                for (std::size_t at = 0; at < size; at += piece)
                    running.add(whole.substr(at, piece));
            };
            running.start(42);
            add_all();
            EXPECT_EQ(running.digest(), hash_bytes(whole, 42)) << size;
            running.start(keyed);
            add_all();
            EXPECT_EQ(running.digest(), keyed(whole)) << size;
        }
    }
}

TEST(Mix, IsPinnedAndOrderMatters) {
    // mix(0, 0) is the first number of SplitMix64 from seed 0.
    static_assert(mix(1, 2) != mix(2, 1));
    EXPECT_EQ(mix(0, 0), 0xe220a8397b1dcdafU);
    EXPECT_EQ(mix(1, 2), 0x3706970b052f16b1U);
    EXPECT_EQ(mix(~std::uint64_t{0}, 1), 0xe7ca617bf4a2427dU);
}

TEST(Mix, ChangesAboutHalfTheBitsForOneBit) {
    int changed = 0;
    for (unsigned bit = 0; bit < 64; ++bit) {
        changed += std::popcount(mix(12345, 678) ^ mix(12345 ^ (std::uint64_t{1} << bit), 678));
        changed += std::popcount(mix(12345, 678) ^ mix(12345, 678 ^ (std::uint64_t{1} << bit)));
    }
    EXPECT_NEAR(changed / 128.0, 32, 2);
}

}  // namespace
}  // namespace prefix_router
