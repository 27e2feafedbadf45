#include "prefix_router/admin/endpoints.hpp"

#include <charconv>
#include <string>

#include <nlohmann/json.hpp>

#include "prefix_router/config/options.hpp"

#include "admin/openapi.hpp"

namespace prefix_router::admin {
namespace {

using nlohmann::json;

constexpr std::size_t kDefaultDecisions = 20;
constexpr std::size_t kMostDecisions = 1000;

Answer json_answer(const json& value, unsigned status = 200) {
    return {status, "application/json", value.dump(2) + "\n"};
}

Answer bad_query(const std::string& message) {
    return json_answer({{"error", {{"message", message}, {"type", "admin_error"}, {"code", 400}}}},
                       400);
}

json or_null(const auto& optional) {
    return optional ? json(*optional) : json(nullptr);
}

json backend_json(const proxy::BackendState& state) {
    const auto& belief = state.belief;
    return {
        {"id", state.id},
        {"url", state.url},
        {"models", state.models},
        {"health", pool::to_string(state.health)},
        {"draining", state.is_draining},
        {"last_error", state.last_error.empty() ? json(nullptr) : json(state.last_error)},
        {"in_flight", belief.in_flight},
        {"requests", belief.requests},
        {"max_in_flight", or_null(belief.max_in_flight)},
        {"backlog_s", belief.backlog},
        {"capacity_tokens", belief.capacity},
        {"capacity_is_learned", belief.capacity_is_learned},
        {"resident_tokens", belief.resident},
        {"overhead_s", belief.overhead},
        {"prefill_tokens_per_s", belief.prefill_tokens_per_s},
        {"speed_factor", belief.speed_factor},
        {"lanes", belief.lanes},
        {"prefill_utilization", belief.work},
        {"foreign_requests", belief.foreign},
        {"reported",
         {{"capacity_tokens", or_null(state.scraped.capacity)},
          {"running", or_null(state.scraped.running)},
          {"waiting", or_null(state.scraped.waiting)},
          {"kv_usage", or_null(state.scraped.kv_usage)},
          {"step_tokens", or_null(state.scraped.step)}}},
    };
}

json queue_json(const Sources& sources) {
    const routing::QueueState queue = sources.desk.queue();
    json held;
    for (std::size_t i = 0; i < config::kPriorities; ++i) {
        held[std::string(config::to_string(static_cast<config::Priority>(i)))] = queue.held[i];
    }
    return {
        {"held", std::move(held)},
        {"held_bytes", queue.bytes},
        {"max_requests", sources.config.queue.max_requests},
    };
}

Answer show_backends(const Sources& sources) {
    json list = json::array();
    for (const auto& state : sources.desk.states()) {
        list.push_back(backend_json(state));
    }
    return json_answer({{"backends", std::move(list)}, {"queue", queue_json(sources)}});
}

std::string_view to_string(routing::Action action) {
    switch (action) {
        case routing::Action::Send:
            return "send";
        case routing::Action::Wait:
            return "wait";
        case routing::Action::Refuse:
            return "refuse";
    }
    return "unknown";
}

/// Slots as ids; a backend that has been removed since is "gone".
class BackendNames {
  public:
    explicit BackendNames(const proxy::RoutingDesk& desk) {
        for (const auto& state : desk.states()) {
            const auto index = state.belief.backend.index();
            if (names_.size() <= index) {
                names_.resize(index + 1, "gone");
            }
            names_[index] = state.id;
        }
    }
    std::string name(BackendSlot slot) const {
        return slot.index() < names_.size() ? names_[slot.index()] : "gone";
    }

  private:
    std::vector<std::string> names_;
};

json candidate_json(const routing::CostTerms& terms, const BackendNames& names) {
    return {
        {"backend", names.name(terms.backend)}, {"match_tokens", terms.match},
        {"backlog_s", terms.backlog},           {"own_prefill_s", terms.own},
        {"eviction_s", terms.eviction},         {"externality_s", terms.externality},
        {"memory_wait_s", terms.memory_wait},   {"in_flight_s", terms.in_flight},
        {"slot_wait_s", terms.slot_wait},       {"total_s", terms.total},
    };
}

json decision_json(const routing::ExplainedDecision& explained, const BackendNames& names,
                   TimePoint now) {
    const auto& decision = explained.decision;
    const bool is_sent = decision.action == routing::Action::Send;
    json candidates = json::array();
    for (const auto& terms : explained.candidates) {
        candidates.push_back(candidate_json(terms, names));
    }
    return {
        {"request", explained.request},
        {"age_s", to_seconds(now - explained.at)},
        {"action", to_string(decision.action)},
        {"backend", is_sent ? json(names.name(decision.backend)) : json(nullptr)},
        {"reason", is_sent ? json(routing::to_string(decision.reason)) : json(nullptr)},
        {"priority", config::to_string(explained.priority)},
        {"key_blocks", explained.key_blocks},
        {"prompt_tokens", decision.prompt_tokens},
        {"expected_cached_tokens", decision.expected_cached},
        {"expected_wait_s", decision.expected_wait},
        {"held_s", to_seconds(explained.held)},
        {"candidates", std::move(candidates)},
    };
}

Answer show_decisions(const Sources& sources, const Request& request) {
    std::size_t limit = kDefaultDecisions;
    if (const auto found = request.query.find("limit"); found != request.query.end()) {
        const auto& text = found->second;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
        if (error != std::errc{} || end != text.data() + text.size() || limit == 0 ||
            limit > kMostDecisions) {
            return bad_query("limit must be a whole number from 1 to " +
                             std::to_string(kMostDecisions));
        }
    }
    const BackendNames names(sources.desk);
    const auto now = sources.clock.now();
    json list = json::array();
    for (const auto& explained : sources.desk.decisions(limit)) {
        list.push_back(decision_json(explained, names, now));
    }
    return json_answer({{"decisions", std::move(list)}});
}

Answer show_readiness(const Sources& sources) {
    const bool is_ready = sources.server.is_ready();
    const char* reason = is_ready                       ? "ready"
                         : sources.server.is_draining() ? "draining"
                                                        : "no usable backend";
    return json_answer({{"ready", is_ready}, {"reason", reason}}, is_ready ? 200 : 503);
}

Answer show_metrics(const Sources& sources) {
    sources.desk.publish();
    return {200, "text/plain; version=0.0.4; charset=utf-8", sources.registry.exposition()};
}

}  // namespace

std::vector<Route> endpoints(const Sources& sources) {
    return {
        {"GET", "/metrics", [sources](const Request&) { return show_metrics(sources); }},
        {"GET", "/healthz", [](const Request&) { return json_answer({{"alive", true}}); }, true},
        {"GET", "/readyz", [sources](const Request&) { return show_readiness(sources); }, true},
        {"GET", "/backends", [sources](const Request&) { return show_backends(sources); }},
        {"GET", "/decisions",
         [sources](const Request& request) { return show_decisions(sources, request); }},
        {"GET", "/openapi.json",
         [](const Request&) {
             return Answer{200, "application/json", std::string(assets::openapi)};
         }},
        {"GET", "/config",
         [sources](const Request&) {
             return Answer{200, "application/yaml",
                           config::to_yaml(sources.config, config::Comments::Without)};
         }},
    };
}

}  // namespace prefix_router::admin
