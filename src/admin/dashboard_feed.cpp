#include "admin/dashboard_feed.hpp"

#include <numeric>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>
#include <prometheus/gauge.h>

#include "admin/state_json.hpp"

namespace prefix_router::admin {
namespace {

using nlohmann::json;

constexpr std::size_t kShownDecisions = 12;
constexpr std::size_t kShownPrefixes = 8;

/// Model names come from engines: what is no UTF-8 must not end the stream.
std::string event(std::string_view name, const json& data) {
    std::string text("event: ");
    text += name;
    text += "\ndata: ";
    text += data.dump(-1, ' ', false, json::error_handler_t::replace);
    text += "\n\n";
    return text;
}

json counts_json(const proxy::BackendState& state) {
    const proxy::BackendCounts& counts = state.counts;
    return {
        {"requests", counts.requests},
        {"failures", counts.failures},
        {"refusals", counts.refusals},
        {"reported_prompt_tokens", counts.reported_prompt_tokens},
        {"reported_cached_tokens", counts.reported_cached_tokens},
        {"missing_cached_tokens", counts.missing_cached_tokens},
        {"unexpected_cached_tokens", counts.unexpected_cached_tokens},
        {"saved_prefill_s", counts.saved_prefill},
    };
}

json prefixes_json(const std::vector<routing::HotPrefix>& prefixes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    json list = json::array();
    for (const routing::HotPrefix& prefix : prefixes) {
        std::string hash;
        for (int shift = 60; shift >= 0; shift -= 4) {
            hash += kDigits[(prefix.hash >> shift) & 15];
        }
        list.push_back({{"hash", hash},
                        {"tokens", prefix.tokens},
                        {"prompts", prefix.prompts},
                        {"copies", prefix.copies}});
    }
    return list;
}

std::size_t held_in(const routing::QueueState& queue) {
    return std::accumulate(queue.held.begin(), queue.held.end(), std::size_t{0});
}

}  // namespace

DashboardFeed::DashboardFeed(const Sources& sources) : sources_(sources), started_(sample().at) {
    history_.add(sample());
}

FleetSample DashboardFeed::sample() const {
    return take_sample(sources_.metrics, held_in(sources_.desk.queue()));
}

std::string DashboardFeed::greeting() {
    const json begin{{"started", started_},
                     {"period_s", std::chrono::duration<double>(period()).count()},
                     {"first_token_bounds", first_token_bounds(sources_.metrics)},
                     {"strategy", config::to_string(sources_.levers.effective().routing.strategy)},
                     {"samples", history_.columns()}};
    return event("history", begin) + event("state", state(sample()));
}

std::string DashboardFeed::next(Listeners listeners) {
    const FleetSample taken = sample();
    history_.add(taken);
    return listeners == Listeners::None ? std::string() : event("state", state(taken));
}

json DashboardFeed::state(const FleetSample& sample) const {
    const auto states = sources_.desk.states();
    const BackendNames names(states);
    json backends = json::array();
    for (const proxy::BackendState& backend : states) {
        json shown = backend_json(backend);
        shown["counts"] = counts_json(backend);
        backends.push_back(std::move(shown));
    }
    json decisions = json::array();
    const TimePoint now = sources_.clock.now();
    for (const auto& explained : sources_.desk.decisions(kShownDecisions)) {
        decisions.push_back(decision_json(explained, names, now));
    }
    return {
        {"sample", to_json(sample)},
        {"ready", sources_.server.is_ready()},
        {"draining", sources_.server.is_draining()},
        {"queue", queue_json(sources_.desk, sources_.levers.effective())},
        {"backends", std::move(backends)},
        {"prefixes", prefixes_json(sources_.desk.hot_prefixes(kShownPrefixes))},
        {"decisions", std::move(decisions)},
    };
}

}  // namespace prefix_router::admin
