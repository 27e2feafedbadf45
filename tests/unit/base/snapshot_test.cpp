#include "prefix_router/base/snapshot.hpp"

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace prefix_router {
namespace {

TEST(SnapshotCell, GivesOutTheLastStoredValue) {
    SnapshotCell<int> cell(std::make_shared<int>(1));
    const auto before = cell.load();
    cell.store(std::make_shared<int>(2));
    EXPECT_EQ(*before, 1);
    EXPECT_EQ(*cell.load(), 2);
}

TEST(SnapshotCell, DropsAValueWithItsLastReader) {
    const auto first = std::make_shared<int>(1);
    SnapshotCell<int> cell(first);
    auto reader = cell.load();
    cell.store(std::make_shared<int>(2));
    EXPECT_EQ(first.use_count(), 2);
    reader.reset();
    EXPECT_EQ(first.use_count(), 1);
}

/// Loads from its own cell as it is destroyed: store() must not hold the lock by then.
struct Reentrant {
    explicit Reentrant(SnapshotCell<Reentrant>*& owner) : cell(owner) {}
    ~Reentrant() {
        if (cell != nullptr) {
            static_cast<void>(cell->load());
        }
    }
    SnapshotCell<Reentrant>*& cell;
};

TEST(SnapshotCell, DestroysTheFormerValueOutsideItsLock) {
    SnapshotCell<Reentrant>* owner = nullptr;
    SnapshotCell<Reentrant> cell(std::make_shared<Reentrant>(owner));
    owner = &cell;
    cell.store(std::make_shared<Reentrant>(owner));
    owner = nullptr;
}

TEST(SnapshotCell, ReadersNeverSeeHalfAValue) {
    using Pair = std::pair<int, int>;
    SnapshotCell<Pair> cell(std::make_shared<Pair>(0, 0));
    std::atomic<bool> done{false};
    std::vector<std::thread> readers;
    std::atomic<int> torn{0};
    for (int i = 0; i < 3; ++i) {
        readers.emplace_back([&] {
            while (!done.load()) {
                const auto pair = cell.load();
                torn += pair->first == pair->second ? 0 : 1;
            }
        });
    }
    for (int i = 1; i <= 2'000; ++i) {
        cell.store(std::make_shared<Pair>(i, i));
    }
    done = true;
    for (std::thread& reader : readers) {
        reader.join();
    }
    EXPECT_EQ(torn, 0);
}

}  // namespace
}  // namespace prefix_router
