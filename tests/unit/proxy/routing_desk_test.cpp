#include "prefix_router/proxy/routing_desk.hpp"

#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "prefix_router/metrics/metrics.hpp"
#include "prefix_router/proxy/roster.hpp"

namespace prefix_router::proxy {
namespace {

class SetClock final : public Clock {
  public:
    TimePoint now() const override { return time; }
    TimePoint time{std::chrono::seconds(1000)};
};

class NeverHeld final : public TicketOwner {
  public:
    void ticket_released() noexcept override { ADD_FAILURE() << "nothing is held here"; }
};

/// A desk with one backend.
class Desk {
  public:
    Desk() { EXPECT_TRUE(roster_.replace("test", {*config::backend_from_url("http://a:1")})); }

    /// A short request whose answer takes 70 ms.
    void serve(FirstByte first_byte) {
        routing::Ask ask;
        ask.key.hashes = {7};
        ask.key.ends = {100};
        ask.key.total = 100;
        ask.key.is_tokens = true;
        ask.streams = true;
        std::optional<routing::Ticket> ticket;
        desk_.admit(ticket, std::move(ask), "", owner_);
        clock_.time += std::chrono::milliseconds(70);
        if (first_byte == FirstByte::Apart) {
            desk_.first_byte(*ticket);
        }
        desk_.end(*ticket, routing::Outcome{}, Verdict::Good, first_byte);
    }
    routing::BackendBelief belief() const { return desk_.states().front().belief; }

  private:
    config::Config config_;
    SetClock clock_;
    metrics::Registry registry_;
    Metrics metrics_{registry_};
    RoutingDesk desk_{config_, metrics_, clock_, Random(1)};
    Roster roster_{desk_, metrics_, AskedForKeys::No, std::chrono::minutes(1)};
    NeverHeld owner_;
};

TEST(RoutingDesk, LearnsTheSameFromAFirstByteThatIsToldWithTheEnd) {
    Desk apart;
    Desk together;
    apart.serve(FirstByte::Apart);
    together.serve(FirstByte::WithEnd);
    EXPECT_NEAR(apart.belief().overhead, 0.07, 1e-9);
    EXPECT_EQ(together.belief().overhead, apart.belief().overhead);
    EXPECT_EQ(together.belief().in_flight, 0U);
    EXPECT_EQ(together.belief().backlog, 0);
}

}  // namespace
}  // namespace prefix_router::proxy
