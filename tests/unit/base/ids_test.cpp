#include "prefix_router/base/ids.hpp"

#include <type_traits>
#include <unordered_set>

#include <gtest/gtest.h>

namespace prefix_router {
namespace {

static_assert(!std::is_convertible_v<int, BackendSlot>);
static_assert(!std::is_convertible_v<BackendSlot, ModelId>);
static_assert(!std::is_constructible_v<ModelId, BackendSlot>);
static_assert(sizeof(BackendSlot) == 2);

TEST(StrongId, KeepsComparesAndHashesItsValue) {
    EXPECT_EQ(BackendSlot(7).value(), 7);
    EXPECT_EQ(BackendSlot(7).index(), 7U);
    EXPECT_EQ(ModelId(), kUnknownModel);
    EXPECT_LT(BackendSlot(1), BackendSlot(2));
    EXPECT_NE(BackendSlot(1), BackendSlot(2));
    const std::unordered_set<BackendSlot> slots{BackendSlot(1), BackendSlot(2), BackendSlot(1)};
    EXPECT_EQ(slots.size(), 2U);
}

TEST(StrongId, OfASlotHoldsEveryBackend) {
    EXPECT_EQ(BackendSlot(static_cast<BackendSlot::Value>(kMaxBackends - 1)).index(),
              kMaxBackends - 1);
}

}  // namespace
}  // namespace prefix_router
