#include "admin/changes.hpp"

#include <string>
#include <utility>

#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include "admin/answers.hpp"
#include "admin/backend_requests.hpp"
#include "admin/roster_json.hpp"

namespace prefix_router::admin {
namespace {

using nlohmann::json;

void log_change(const Request& request, const std::string& what) {
    spdlog::info("admin: {} {}", request.who, what);
}

/// The backend as it is after a change.
Answer show_backend(const Sources& sources, const std::string& id, unsigned status = 200) {
    const auto members = sources.roster.members();
    const auto found = members.find(id);
    return found == members.end() ? refusal(404, "there is no backend " + id)
                                  : json_answer(member_json(id, found->second), status);
}

Answer add_backend(const Sources& sources, const Request& request) {
    auto backend = read_new_backend(request.body);
    if (!backend) {
        return refusal(400, backend.error().message());
    }
    const std::string id = backend->id;
    const std::string url = backend->url.text;
    if (const auto added = sources.roster.add(std::move(*backend)); !added) {
        return refusal(added.error());
    }
    log_change(request, "added backend " + id + " (" + url + ")");
    return show_backend(sources, id, 201);
}

Answer remove_backend(const Sources& sources, const Request& request) {
    const std::string& id = request.parameters.at("id");
    if (const auto removed = sources.roster.remove(id); !removed) {
        return refusal(removed.error());
    }
    log_change(request, "removed backend " + id);
    return json_answer({{"removed", id}});
}

Answer set_backend(const Sources& sources, const Request& request) {
    const std::string& id = request.parameters.at("id");
    const auto wishes = read_wishes(request.body);
    if (!wishes) {
        return refusal(400, wishes.error().message());
    }
    if (const auto set = sources.roster.set(id, *wishes); !set) {
        return refusal(set.error());
    }
    log_change(request, "set on backend " + id + ": " + in_words(*wishes));
    return show_backend(sources, id);
}

Answer set_draining(const Sources& sources, const Request& request, bool drains) {
    const std::string& id = request.parameters.at("id");
    if (const auto set = sources.roster.set_draining(id, drains); !set) {
        return refusal(set.error());
    }
    log_change(request, (drains ? "drains backend " : "takes back backend ") + id);
    return show_backend(sources, id);
}

Answer set_log_level(const Sources& sources, const Request& request) {
    const json body = json::parse(request.body, nullptr, false);
    if (!body.is_object() || body.size() != 1 || !body.contains("level") ||
        !body["level"].is_string()) {
        return refusal(400, R"(send a level, such as {"level": "debug"})");
    }
    const auto level = body["level"].get<std::string>();
    if (const auto set = sources.levers.set_log_level(level); !set) {
        return refusal(400, set.error().message());
    }
    log_change(request, "set the log level to " + level);
    return json_answer({{"level", level}});
}

Answer reload(const Sources& sources, const Request& request) {
    const Levers::Reloaded reloaded = sources.levers.reload("admin: " + request.who);
    const bool is_done = reloaded.problems.empty();
    return json_answer({{"reloaded", is_done},
                        {"problems", reloaded.problems},
                        {"warnings", reloaded.warnings},
                        {"options", reloaded.options},
                        {"unresolved", reloaded.backends.unresolved},
                        {"backends",
                         {{"added", reloaded.backends.added},
                          {"removed", reloaded.backends.removed},
                          {"changed", reloaded.backends.changed}}}},
                       is_done ? 200 : 409);
}

Answer drain(const Sources& sources, const Request& request) {
    log_change(request, "drains the router");
    sources.levers.drain();
    return json_answer({{"draining", true}}, 202);
}

Route change(const char* method, const char* path, std::function<Answer(const Request&)> handle) {
    Route route{method, path, std::move(handle)};
    route.is_change = true;
    return route;
}

/// Of the roster: one at a time, and a reload among them waits for files and names.
Route roster_change(const char* method, const char* path,
                    std::function<Answer(const Request&)> handle) {
    Route route = change(method, path, std::move(handle));
    route.may_block = true;
    return route;
}

}  // namespace

std::vector<Route> changes(const Sources& sources) {
    const auto with = [&sources](Answer (*handle)(const Sources&, const Request&)) {
        return [sources, handle](const Request& request) { return handle(sources, request); };
    };
    const auto draining = [&sources](bool drains) {
        return [sources, drains](const Request& request) {
            return set_draining(sources, request, drains);
        };
    };
    return {
        roster_change("POST", "/backends", with(add_backend)),
        roster_change("PATCH", "/backends/{id}", with(set_backend)),
        roster_change("DELETE", "/backends/{id}", with(remove_backend)),
        roster_change("POST", "/backends/{id}/drain", draining(true)),
        roster_change("POST", "/backends/{id}/undrain", draining(false)),
        roster_change("POST", "/config/reload", with(reload)),
        change("PUT", "/log-level", with(set_log_level)),
        change("POST", "/drain", with(drain)),
    };
}

}  // namespace prefix_router::admin
