#include "prefix_router/net/worker.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

namespace prefix_router::net {
namespace {

[[noreturn]] void fail() {
    throw std::runtime_error("of a test");
}

Task<void> failing_task() {
    fail();
    co_return;
}

struct FailingEntry final : Ticked {
    void on_tick(Tick /*now*/) override {
        ++ticks;
        fail();
    }
    int ticks = 0;
};

struct StoppingEntry final : Ticked {
    explicit StoppingEntry(Worker& stopped) : worker(stopped) {}
    void on_tick(Tick /*now*/) override {
        if (++ticks == 2) {
            worker.stop();
        }
    }
    Worker& worker;
    int ticks = 0;
};

TEST(WorkerTest, AnExceptionCostsWhatThrewItAndNothingElse) {
    Worker worker;
    StoppingEntry before(worker);
    FailingEntry failing;
    StoppingEntry after(worker);
    worker.ticks().add(before);
    worker.ticks().add(failing);
    worker.ticks().add(after);
    int errands = 0;
    worker.every(std::chrono::milliseconds(1), [&] {
        ++errands;
        fail();
    });
    worker.spawn(failing_task());
    EXPECT_EQ(worker.running_tasks(), 0U);
    worker.post(fail);
    worker.run();
    EXPECT_EQ(before.ticks, failing.ticks);
    EXPECT_EQ(after.ticks, failing.ticks);
    EXPECT_GE(failing.ticks, 2);
    EXPECT_GT(errands, 1);
}

}  // namespace
}  // namespace prefix_router::net
