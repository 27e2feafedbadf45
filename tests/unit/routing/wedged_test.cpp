// A backend that accepts requests and gives no byte, in virtual time: how soon new requests go
// elsewhere, with streaming and with non-streaming answers.

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/routing/router_fixture.hpp"

namespace prefix_router::routing {
namespace {

struct Traffic {
    bool streams = false;
    double requests_per_s = 2;
    Seconds longest_answer = 5;  ///< even between 0 and this
};

/// Three backends under Poisson arrivals of new prompts; each takes 0.3 s per prompt, one by one.
class WedgedTest : public RouterTest, public testing::WithParamInterface<Traffic> {
  protected:
    static constexpr BackendSlot kWatched{1};
    enum class Kind : std::uint8_t { First, End };
    struct Event {
        double at;
        Kind kind;
        std::size_t request;
        bool operator>(const Event& other) const { return at > other.at; }
    };

    void arrive(double at) {
        run_until(at);
        seconds_ = at;
        Ticket& ticket = admit(key(tickets_.size() + 1, 8), GetParam().streams);
        sent_.push_back(ticket.decision().backend);
        const std::size_t slot = ticket.decision().backend.index();
        if (slot == wedged_) {
            return;
        }
        const double first = std::max(at, free_at_[slot]) + 0.3;
        const double end = first + random_.unit() * GetParam().longest_answer;
        free_at_[slot] = first;
        events_.push({first, Kind::First, tickets_.size() - 1});
        events_.push({end, Kind::End, tickets_.size() - 1});
    }

    void run_until(double at) {
        while (!events_.empty() && events_.top().at <= at) {
            const Event event = events_.top();
            events_.pop();
            Ticket& ticket = *tickets_[event.request];
            const bool is_silent = ticket.decision().backend.index() == wedged_;
            seconds_ = event.at;
            if (is_silent) {
                continue;
            }
            if (event.kind == Kind::End) {
                end(ticket);
            } else if (GetParam().streams) {
                first_byte(ticket);
            }
        }
    }

    /// Requests of the next `seconds` that went to `backend`.
    std::size_t run(double seconds, BackendSlot backend) {
        const std::size_t before = sent_.size();
        const double until = seconds_ + seconds;
        for (double at = seconds_;;) {
            at -= std::log(1 - random_.unit()) / GetParam().requests_per_s;
            if (at > until) {
                break;
            }
            arrive(at);
        }
        run_until(until);
        seconds_ = until;
        return static_cast<std::size_t>(
            std::count(sent_.begin() + static_cast<std::ptrdiff_t>(before), sent_.end(), backend));
    }

    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::vector<double> free_at_ = std::vector<double>(3);
    std::vector<BackendSlot> sent_;
    std::size_t wedged_ = kMaxBackends;
    Random random_{9};
};

TEST_P(WedgedTest, ItIsLeftWithinSecondsAndAHealthyOneIsNot) {
    start(3, sent_at_once());
    run(100, kWatched);
    const auto fair = static_cast<double>(run(300, kWatched)) / 300;
    EXPECT_GT(fair, GetParam().requests_per_s / 3 * 0.6);
    wedged_ = kWatched.index();
    const double patience = GetParam().streams ? 2 : 1 + GetParam().longest_answer;
    EXPECT_LE(static_cast<double>(run(10 + patience, kWatched)), fair * (1 + patience) + 3);
    EXPECT_EQ(run(60, kWatched), 0U);
}

INSTANTIATE_TEST_SUITE_P(Traffic, WedgedTest,
                         testing::Values(Traffic{true, 2, 5}, Traffic{false, 2, 5},
                                         Traffic{false, 2, 1}, Traffic{false, 6, 20}),
                         [](const auto& each) {
                             return std::string(each.param.streams ? "Streams" : "Plain") +
                                    std::to_string(each.index);
                         });

}  // namespace
}  // namespace prefix_router::routing
