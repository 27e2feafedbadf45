#include "prefix_router/net/ticker.hpp"

#include <functional>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace prefix_router::net {
namespace {

using std::chrono::milliseconds;

class Callback final : public Ticked {
  public:
    explicit Callback(std::function<void(Tick)> call) : call_(std::move(call)) {}
    void on_tick(Tick now) override { call_(now); }

  private:
    std::function<void(Tick)> call_;
};

TEST(Deadline, IsNeverEarlyAndAtMostTwoTicksLate) {
    for (const int length : {1, 249, 250, 251, 500, 1000, 75'000}) {
        Deadline deadline;
        deadline.arm(100, milliseconds(length), ErrorKind::FirstByteTimeout);
        Tick due = 100;
        while (!deadline.is_due(due)) {
            ++due;
        }
        // Armed just before tick 101, the time that has surely passed is one tick less.
        const milliseconds surely = (due - 100 - 1) * kTickLength;
        const milliseconds at_most = (due - 100) * kTickLength;
        EXPECT_GE(surely, milliseconds(length)) << length;
        EXPECT_LE(at_most, milliseconds(length) + 2 * kTickLength) << length;
    }
}

TEST(Deadline, OfZeroLengthIsNever) {
    Deadline deadline;
    deadline.arm(5, milliseconds(0), ErrorKind::IdleTimeout);
    EXPECT_FALSE(deadline.is_armed());
    EXPECT_FALSE(deadline.is_due(kNeverTick - 1));
}

TEST(Deadline, KnowsWhatItMeansToMissIt) {
    Deadline deadline;
    deadline.arm(0, milliseconds(1), ErrorKind::ConnectTimeout);
    EXPECT_EQ(deadline.missed(), ErrorKind::ConnectTimeout);
    deadline.arm(0, milliseconds(1), ErrorKind::IdleTimeout);
    EXPECT_EQ(deadline.missed(), ErrorKind::IdleTimeout);
}

TEST(TickList, TellsEveryEntryOnceATick) {
    TickList list;
    int told = 0;
    Callback first([&](Tick) { ++told; });
    Callback second([&](Tick) { told += 10; });
    list.add(first);
    list.add(second);
    list.advance();
    list.advance();
    EXPECT_EQ(told, 22);
    EXPECT_EQ(list.now(), 2U);
}

TEST(TickList, AnEntryMayRemoveItselfAndItsNeighboursWhileTold) {
    TickList list;
    std::vector<std::unique_ptr<Callback>> entries(3);
    int told = 0;
    for (auto& entry : entries) {
        entry = std::make_unique<Callback>([&](Tick) {
            ++told;
            for (auto& other : entries) {
                other.reset();
            }
        });
        list.add(*entry);
    }
    list.advance();
    list.advance();
    EXPECT_EQ(told, 1);
}

TEST(TickList, AnEntryThatJoinsWhileToldWaitsForTheNextTick) {
    TickList list;
    int told = 0;
    Callback late([&](Tick) { ++told; });
    Callback first([&](Tick now) {
        if (now == 1) {
            list.add(late);
        }
    });
    list.add(first);
    list.advance();
    EXPECT_EQ(told, 0);
    list.advance();
    EXPECT_EQ(told, 1);
}

TEST(TickList, EntriesOutliveTheirList) {
    int told = 0;
    Callback entry([&](Tick) { ++told; });
    {
        TickList list;
        list.add(entry);
    }
    TickList other;
    other.add(entry);
    other.advance();
    EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace prefix_router::net
