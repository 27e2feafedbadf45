#pragma once

#include <chrono>
#include <string>

#include "prefix_router/admin/endpoints.hpp"
#include "prefix_router/admin/event_feed.hpp"

#include "admin/fleet_history.hpp"

namespace prefix_router::admin {

/// What the dashboard shows: a `history` event to begin with, then a `state` event every period.
/// Looks at the fleet every period even when nobody listens, for the history; that reads some
/// counters.
class DashboardFeed final : public EventFeed {
  public:
    explicit DashboardFeed(const Sources& sources);

    std::chrono::milliseconds period() const override { return std::chrono::seconds(2); }
    std::string greeting() override;
    std::string next(Listeners listeners) override;

  private:
    FleetSample sample() const;
    nlohmann::json state(const FleetSample& sample) const;

    Sources sources_;
    FleetHistory history_;
    double started_;
};

}  // namespace prefix_router::admin
