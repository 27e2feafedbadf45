#include "sim/flat_index.hpp"

#include <unordered_map>

#include <gtest/gtest.h>

#include "prefix_router/base/random.hpp"

namespace prefix_router::sim {
namespace {

TEST(FlatIndex, FindsWhatWasInsertedAndNothingElse) {
    FlatIndex index;
    index.insert(7, 1);
    index.insert(0, 2);
    EXPECT_EQ(index.find(7), 1U);
    EXPECT_EQ(index.find(0), 2U);
    EXPECT_EQ(index.find(8), FlatIndex::kNone);
    EXPECT_EQ(index.size(), 2U);
}

TEST(FlatIndex, AgreesWithAStandardMapUnderRandomTurnover) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(seed);
        FlatIndex index;
        std::unordered_map<std::uint64_t, std::uint32_t> model;
        for (std::uint32_t step = 0; step < 50'000; ++step) {
            // Dense ids and few of them: long probe runs, wrapped at the table's end.
            const std::uint64_t id = random.below(700) << (8 * (seed - 1));
            const auto found = model.find(id);
            ASSERT_EQ(index.find(id), found == model.end() ? FlatIndex::kNone : found->second);
            if (found != model.end()) {
                index.erase(id);
                model.erase(found);
            } else {
                index.insert(id, step);
                model.emplace(id, step);
            }
            ASSERT_EQ(index.size(), model.size());
        }
    }
}

TEST(FlatIndex, ErasingAnAbsentIdChangesNothing) {
    FlatIndex index;
    index.insert(1, 1);
    index.erase(2);
    EXPECT_EQ(index.size(), 1U);
    EXPECT_EQ(index.find(1), 1U);
}

}  // namespace
}  // namespace prefix_router::sim
