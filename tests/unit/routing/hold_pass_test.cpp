#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "routing/hold_queue.hpp"

namespace prefix_router::routing {
namespace {

class HoldPassTest : public testing::Test {
  protected:
    Record& hold(Seconds own) {
        tickets_.push_back(std::make_unique<Ticket>(Ask()));
        records_.push_back(std::make_unique<Record>());
        Record& record = *records_.back();
        record.ticket = tickets_.back().get();
        record.wants_own = own;
        record.key = queue_.key(own, 0, records_.size());
        queue_.insert(record, 0);
        return record;
    }
    void TearDown() override {
        for (const auto& record : records_) {
            queue_.remove(*record, HoldQueue::Leaves::Unsent, 0);
        }
    }

    std::vector<std::unique_ptr<Ticket>> tickets_;
    std::vector<std::unique_ptr<Record>> records_;
    HoldQueue queue_{HoldQueue::Rules()};
};

TEST_F(HoldPassTest, ShowsEachOnceWhereverItMovesMeanwhile) {
    const std::vector<Record*> held = {&hold(1), &hold(2), &hold(3), &hold(4)};
    std::vector<Record*> shown;
    HoldPass& pass = queue_.walk();
    // Their common prefix was lost: each has the more to compute and goes to the end.
    for (Record* record = pass.next().record; record != nullptr; record = pass.next().record) {
        ASSERT_LT(shown.size(), held.size()) << "one was shown twice";
        shown.push_back(record);
        queue_.choose(*record, BackendSlot(0), record->wants_own + 10);
    }
    EXPECT_EQ(shown, held);
    // In the next pass as well.
    EXPECT_EQ(queue_.walk().next().record, held.front());
}

}  // namespace
}  // namespace prefix_router::routing
