// Memory that is not there, at every place where the routing asks for some: what was begun is taken
// back by end(), and nobody waits for what will not come.
#include <unistd.h>

#include <algorithm>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/failing_memory.hpp"
#include "unit/routing/router_fixture.hpp"

namespace prefix_router::routing {
namespace {

enum class Engines : std::uint8_t { OneCache, Slots };

/// The same requests each time, each with its fate.
class Trial final : public RouterTest {
  public:
    void TestBody() override {}

    explicit Trial(Engines engines) {
        Router::Options options;
        options.kept_decisions = 4;
        options.max_in_flight = 2;
        options.queue.max_requests = 8;
        start(3, options);
        for (const BackendSlot slot : pool_.slots()) {
            pool_.find(slot)->scraped.slots = engines == Engines::Slots ? 2 : 0;
            router_->backend_scraped(slot, now());
        }
    }

    /// The `nth` allocation fails; true when there are fewer.
    bool run(long nth) {
        testing::fail_allocation(nth);
        for (int i = 0; i < kRequests; ++i) {
            arrive();
            advance(0.1);
            attempt([&] { router_->tick(now()); });
            if (i % 3 == 2) {
                go_on();
            }
        }
        const bool is_over = testing::stop_failing();
        check_waiting();
        for (const auto& ticket : tickets_) {
            RouterTest::end(*ticket, Outcome::Kind::Failed);
        }
        check_empty();
        return is_over;
    }

  private:
    static constexpr int kRequests = 24;

    /// As the proxy does: who meets an exception ends its request.
    template <class Work>
    bool attempt(Work&& work) {
        static const std::vector<long> self{::gettid()};
        static const std::vector<long> nobody;
        bool is_done = true;
        testing::set_victims(self);
        try {
            work();
        } catch (const std::bad_alloc&) {
            is_done = false;
        }
        testing::set_victims(nobody);
        const auto released = router_->take_released();
        for (const Ticket* ticket : released) {
            EXPECT_NE(ticket->decision().action, Action::Wait);
        }
        return is_done;
    }

    void arrive() {
        const auto number = static_cast<std::uint64_t>(tickets_.size());
        Ask asked;
        asked.key = key(number % 4, 10 + number);
        asked.streams = number % 2 == 0;
        asked.bytes = 10;
        asked.priority = static_cast<config::Priority>(number % config::kPriorities);
        asked.tenant = number % 5;
        tickets_.push_back(std::make_unique<Ticket>(std::move(asked)));
        Ticket& ticket = *tickets_.back();
        if (!attempt([&] { router_->admit(ticket, now()); })) {
            end(ticket, Outcome::Kind::Failed);
        }
    }

    /// Those that were sent: one is tried elsewhere, one is left, the others are answered.
    void go_on() {
        for (std::size_t i = 0; i < tickets_.size(); ++i) {
            Ticket& ticket = *tickets_[i];
            if (mark(ended_, i)) {
                continue;
            }
            if (ticket.decision().action == Action::Refuse) {
                end(ticket, Outcome::Kind::Failed);
            } else if (ticket.decision().action == Action::Send && i % 4 == 1 &&
                       !mark(retried_, i)) {
                mark(retried_, i) = true;
                if (!attempt([&] { router_->retry(ticket, Outcome::Kind::Failed, now()); })) {
                    end(ticket, Outcome::Kind::Failed);
                }
            } else if (ticket.decision().action == Action::Send) {
                answer(ticket, i % 4 == 2 ? Outcome::Kind::ClientLeft : Outcome::Kind::Success);
            }
        }
    }

    void answer(Ticket& ticket, Outcome::Kind kind) {
        if (!attempt([&] { router_->first_byte(ticket, now()); })) {
            kind = Outcome::Kind::Failed;
        }
        advance(0.05);
        end(ticket, kind);
    }

    void end(Ticket& ticket, Outcome::Kind kind) {
        const std::vector<std::uint64_t> hashes{7, 8};
        const std::vector<std::uint32_t> ends{512, 1024};
        Outcome outcome;
        outcome.kind = kind;
        outcome.reported_prompt = ticket.decision().prompt_tokens;
        outcome.reported_cached = 512;
        outcome.answer_hashes = hashes;
        outcome.answer_ends = ends;
        attempt([&] { router_->end(ticket, outcome, now()); });
        const auto place =
            std::ranges::find_if(tickets_, [&](const auto& each) { return each.get() == &ticket; });
        mark(ended_, static_cast<std::size_t>(place - tickets_.begin())) = true;
    }

    static std::vector<bool>::reference mark(std::vector<bool>& marks, std::size_t i) {
        marks.resize(std::max(marks.size(), i + 1));
        return marks[i];
    }

    /// Whoever is told to wait is in the queue.
    void check_waiting() {
        std::size_t waiting = 0;
        for (std::size_t i = 0; i < tickets_.size(); ++i) {
            const bool waits = tickets_[i]->decision().action == Action::Wait;
            waiting += waits && !mark(ended_, i) ? 1U : 0U;
        }
        EXPECT_EQ(router_->held(), waiting);
    }

    void check_empty() {
        for (const BackendSlot slot : pool_.slots()) {
            EXPECT_EQ(in_flight(slot), 0U);
            EXPECT_EQ(router_->belief(slot, now()).requests, 0U);
            EXPECT_EQ(router_->belief(slot, now()).backlog, 0);
        }
        EXPECT_EQ(router_->held(), 0U);
        EXPECT_EQ(router_->queue().bytes, 0U);
    }

    std::vector<bool> ended_;
    std::vector<bool> retried_;
};

class ScarceMemoryTest : public ::testing::TestWithParam<Engines> {};

TEST_P(ScarceMemoryTest, LeavesNothingBehindInTheRouting) {
    constexpr long kFewest = 50;
    constexpr long kMost = 20'000;
    long nth = 0;
    for (bool is_over = false; !is_over && nth < kMost && !HasFailure();) {
        SCOPED_TRACE("allocation " + std::to_string(++nth));
        Trial trial(GetParam());
        is_over = trial.run(nth);
    }
    EXPECT_GT(nth, kFewest);
    EXPECT_LT(nth, kMost);
}

INSTANTIATE_TEST_SUITE_P(BothEngines, ScarceMemoryTest,
                         ::testing::Values(Engines::OneCache, Engines::Slots));

}  // namespace
}  // namespace prefix_router::routing
