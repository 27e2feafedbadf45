#include "prefix_router/net/parker.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "prefix_router/net/task.hpp"
#include "prefix_router/net/worker.hpp"

namespace prefix_router::net {
namespace {

constexpr Events kRead = 1;
constexpr Events kWrite = 2;
constexpr Events kGone = 1U << 16;

Task<void> record_events(Parker& parker, Events mask, int times, std::vector<Events>& seen) {
    for (int i = 0; i < times; ++i) {
        const Events events = co_await parker.park(mask);
        seen.push_back(events);
    }
}

TEST(Parker, ResumesOnlyOnWhatIsWaitedFor) {
    Worker worker;
    Parker parker;
    std::vector<Events> seen;
    worker.spawn(record_events(parker, kRead, 1, seen));
    parker.signal(kWrite);
    EXPECT_TRUE(seen.empty());
    parker.signal(kRead);
    EXPECT_EQ(seen, std::vector<Events>{kRead});
}

TEST(Parker, KeepsAnEventUntilSomebodyWaitsForIt) {
    Worker worker;
    Parker parker;
    std::vector<Events> seen;
    parker.signal(kRead);
    worker.spawn(record_events(parker, kRead, 2, seen));
    EXPECT_EQ(seen.size(), 1U);
    parker.signal(kRead);
    EXPECT_EQ(seen.size(), 2U);
}

TEST(Parker, AStickyEventEndsEveryLaterWait) {
    Worker worker;
    Parker parker;
    std::vector<Events> seen;
    parker.signal(kGone);
    worker.spawn(record_events(parker, kRead | kGone, 3, seen));
    EXPECT_EQ(seen, (std::vector<Events>{kGone, kGone, kGone}));
}

TEST(Parker, ForgetsClearedEvents) {
    Worker worker;
    Parker parker;
    std::vector<Events> seen;
    parker.signal(kRead | kWrite);
    parker.clear(kRead);
    worker.spawn(record_events(parker, kRead, 1, seen));
    EXPECT_TRUE(seen.empty());
    parker.signal(kRead);
}

Task<std::string> half(Parker& parker, std::string text) {
    co_await parker.park(kRead);
    text += "!";
    co_return text;
}

Task<void> whole(Parker& parker, std::string& out) {
    std::string result = co_await half(parker, "done");
    out = std::move(result);
}

TEST(Task, ReturnsThroughNestedAwaits) {
    Worker worker;
    Parker parker;
    std::string out;
    worker.spawn(whole(parker, out));
    EXPECT_EQ(worker.running_tasks(), 1U);
    parker.signal(kRead);
    EXPECT_EQ(out, "done!");
    EXPECT_EQ(worker.running_tasks(), 0U);
}

Task<void> fails(Parker& parker) {
    co_await parker.park(kRead);
    throw std::runtime_error("broken");
}

Task<void> catches(Parker& parker, std::string& out) {
    try {
        co_await fails(parker);
    } catch (const std::runtime_error& error) {
        out = error.what();
    }
}

TEST(Task, PassesAnExceptionToItsParent) {
    Worker worker;
    Parker parker;
    std::string out;
    worker.spawn(catches(parker, out));
    parker.signal(kRead);
    EXPECT_EQ(out, "broken");
}

TEST(Task, ThatIsNeverAwaitedFreesItsFrame) {
    Parker parker;
    {
        auto unused = half(parker, std::string(100, 'x'));
    }
    SUCCEED();  // AddressSanitizer looks for the leak
}

}  // namespace
}  // namespace prefix_router::net
