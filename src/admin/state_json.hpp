#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "prefix_router/config/config.hpp"
#include "prefix_router/proxy/routing_desk.hpp"

namespace prefix_router::admin {

/// Slots as ids; a backend that has been removed since is "gone".
class BackendNames {
  public:
    explicit BackendNames(const std::vector<proxy::BackendState>& states);
    std::string name(BackendSlot slot) const {
        return slot.index() < names_.size() ? names_[slot.index()] : "gone";
    }

  private:
    std::vector<std::string> names_;
};

/// What /backends shows of one backend.
nlohmann::json backend_json(const proxy::BackendState& state);
nlohmann::json queue_json(const proxy::RoutingDesk& desk, const config::Config& config);

/// What /decisions shows of one decision.
nlohmann::json decision_json(const routing::ExplainedDecision& explained, const BackendNames& names,
                             TimePoint now);

}  // namespace prefix_router::admin
