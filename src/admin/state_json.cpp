#include "admin/state_json.hpp"

#include <string_view>

#include "prefix_router/config/options.hpp"

namespace prefix_router::admin {
namespace {

using nlohmann::json;

json or_null(const auto& optional) {
    return optional ? json(*optional) : json(nullptr);
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

json candidate_json(const routing::CostTerms& terms, const BackendNames& names) {
    return {
        {"backend", names.name(terms.backend)}, {"match_tokens", terms.match},
        {"backlog_s", terms.backlog},           {"own_prefill_s", terms.own},
        {"eviction_s", terms.eviction},         {"externality_s", terms.externality},
        {"memory_wait_s", terms.memory_wait},   {"in_flight_s", terms.in_flight},
        {"slot_wait_s", terms.slot_wait},       {"total_s", terms.total},
    };
}

}  // namespace

BackendNames::BackendNames(const std::vector<proxy::BackendState>& states) {
    for (const auto& state : states) {
        if (state.is_waiting) {
            continue;
        }
        const auto index = state.belief.backend.index();
        if (names_.size() <= index) {
            names_.resize(index + 1, "gone");
        }
        names_[index] = state.id;
    }
}

json backend_json(const proxy::BackendState& state) {
    const auto& belief = state.belief;
    return {
        {"id", state.id},
        {"url", state.url},
        {"models", state.models},
        {"health", pool::to_string(state.health)},
        {"draining", state.is_draining},
        {"leaving", state.is_leaving},
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

json queue_json(const proxy::RoutingDesk& desk, const config::Config& config) {
    const routing::QueueState queue = desk.queue();
    json held;
    for (std::size_t i = 0; i < config::kPriorities; ++i) {
        held[std::string(config::to_string(static_cast<config::Priority>(i)))] = queue.held[i];
    }
    return {
        {"held", std::move(held)},
        {"held_bytes", queue.bytes},
        {"max_requests", config.queue.max_requests},
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

}  // namespace prefix_router::admin
