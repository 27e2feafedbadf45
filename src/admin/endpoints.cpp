#include "prefix_router/admin/endpoints.hpp"

#include <charconv>
#include <functional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "prefix_router/config/options.hpp"

#include "admin/answers.hpp"
#include "admin/changes.hpp"
#include "admin/dashboard.hpp"
#include "admin/explain.hpp"
#include "admin/openapi.hpp"
#include "admin/state_json.hpp"

namespace prefix_router::admin {
namespace {

using nlohmann::json;

constexpr std::size_t kDefaultDecisions = 20;
constexpr std::size_t kMostDecisions = 1000;

Answer show_backends(const Sources& sources) {
    json list = json::array();
    const auto members = sources.roster.members();
    for (const auto& state : sources.desk.states()) {
        json shown = backend_json(state);
        const auto member = members.find(state.id);
        const bool is_member = member != members.end() && !state.is_leaving;
        shown["source"] = is_member ? json(member->second.source) : json(nullptr);
        list.push_back(std::move(shown));
    }
    return json_answer({{"backends", std::move(list)},
                        {"queue", queue_json(sources.desk, sources.levers.effective())}});
}

Answer show_decisions(const Sources& sources, const Request& request) {
    std::size_t limit = kDefaultDecisions;
    if (const auto found = request.query.find("limit"); found != request.query.end()) {
        const auto& text = found->second;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
        if (error != std::errc{} || end != text.data() + text.size() || limit == 0 ||
            limit > kMostDecisions) {
            return refusal(
                400, "limit must be a whole number from 1 to " + std::to_string(kMostDecisions));
        }
    }
    const BackendNames names(sources.desk.states());
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

/// An address, the name of a Service: monitoring asks by whatever it has found.
Route for_monitoring(const char* path, std::function<Answer(const Request&)> handle) {
    Route route{"GET", path, std::move(handle)};
    route.is_for_monitoring = true;
    return route;
}

Route probe(const char* path, std::function<Answer(const Request&)> handle) {
    Route route = for_monitoring(path, std::move(handle));
    route.is_open = true;
    return route;
}

/// A hash is no secret, but it is worth trying words against.
Answer show_config(const Sources& sources) {
    constexpr const char* kHidden = "(hidden)";
    config::Config shown = sources.levers.effective();
    if (shown.admin_token_sha256) {
        shown.admin_token_sha256 = kHidden;
    }
    for (config::AdminToken& token : shown.admin_tokens) {
        token.sha256 = kHidden;
    }
    for (config::ApiKey& key : shown.api_keys) {
        key.sha256 = kHidden;
    }
    return {200, "application/yaml", config::to_yaml(shown, config::Comments::Without)};
}

}  // namespace

std::vector<Route> endpoints(const Sources& sources) {
    std::vector<Route> routes{
        for_monitoring("/metrics", [sources](const Request&) { return show_metrics(sources); }),
        probe("/healthz", [](const Request&) { return json_answer({{"alive", true}}); }),
        probe("/readyz", [sources](const Request&) { return show_readiness(sources); }),
        {"GET", "/backends", [sources](const Request&) { return show_backends(sources); }},
        {"GET", "/decisions",
         [sources](const Request& request) { return show_decisions(sources, request); }},
        {"GET", "/openapi.json",
         [](const Request&) {
             return Answer{200, "application/json", std::string(assets::openapi)};
         }},
        {"GET", "/config", [sources](const Request&) { return show_config(sources); }},
        {"POST", "/explain",
         [sources](const Request& request) { return explain(sources, request); }},
    };
    for (Route& route : dashboard_routes(sources)) {
        routes.push_back(std::move(route));
    }
    for (Route& route : changes(sources)) {
        routes.push_back(std::move(route));
    }
    return routes;
}

}  // namespace prefix_router::admin
