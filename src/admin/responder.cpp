#include "admin/responder.hpp"

#include <exception>
#include <optional>
#include <string_view>
#include <utility>

#include <boost/beast/http/field.hpp>
#include <spdlog/spdlog.h>

#include "admin/answers.hpp"
#include "admin/query.hpp"
#include "admin/route_path.hpp"

namespace prefix_router::admin {
namespace {

namespace http = boost::beast::http;

constexpr const char* kNobody = "local";

std::string known_paths(const std::vector<Route>& routes) {
    std::string list;
    for (const auto& route : routes) {
        if (!route.is_part_of_a_page) {
            list += (list.empty() ? "" : ", ") + route.method + " " + route.path;
        }
    }
    return list;
}

/// What answers to the request, whose path parameters are then set; null: 404, or 405 when
/// `is_known_path`.
const Route* find_route(const std::vector<Route>& routes, Request& request, bool& is_known_path) {
    for (const auto& route : routes) {
        if (!matches(route.path, request.path, request.parameters)) {
            continue;
        }
        is_known_path = true;
        const bool is_head = request.method == "HEAD" && route.method == "GET";
        if (route.method == request.method || is_head) {
            return &route;
        }
    }
    return nullptr;
}

Answer handle(const Route& route, const Request& request) {
    try {
        return route.handle(request);
    } catch (const std::exception& failure) {
        spdlog::error("admin: {} {} failed: {}", route.method, route.path, failure.what());
        return refusal(500, "the request failed; the log says why");
    }
}

std::optional<std::string_view> field(const Message& message, http::field name) {
    const auto found = message.find(name);
    return found != message.end() ? std::optional<std::string_view>(found->value()) : std::nullopt;
}

Caller caller_of(const Message& message, bool is_local) {
    Caller caller;
    caller.authorization = field(message, http::field::authorization).value_or("");
    caller.host = field(message, http::field::host);
    caller.origin = field(message, http::field::origin);
    caller.is_local = is_local;
    return caller;
}

Request read_request(const Message& message) {
    Request request;
    request.method = std::string(message.method_string());
    split_target(std::string_view(message.target()), request.path, request.query);
    request.body = message.body();
    return request;
}

}  // namespace

std::string path_of(const Message& message) {
    const std::string_view target(message.target());
    return std::string(target.substr(0, target.find('?')));
}

bool Responder::is_allowed(const Message& message, bool is_peer_local) const {
    Request request;
    request.method = std::string(message.method_string());
    request.path = path_of(message);
    bool is_known_path = false;
    const Route* const route = find_route(routes_, request, is_known_path);
    return !access_.refusal(route, request.method, caller_of(message, is_peer_local));
}

std::variant<Answer, Responder::Work> Responder::answer(const Message& message,
                                                        bool is_peer_local) const {
    Request request = read_request(message);
    bool is_known_path = false;
    const Route* const route = find_route(routes_, request, is_known_path);
    const Caller caller = caller_of(message, is_peer_local);
    if (auto refused = access_.refusal(route, request.method, caller)) {
        return std::move(*refused);
    }
    if (route == nullptr) {
        return is_known_path ? refusal(405, "method not allowed here")
                             : refusal(404, "no such endpoint; known: " + known_paths(routes_));
    }
    if (request.method == "GET" && route->feed) {
        Answer full = refusal(503, "as many event streams are open as may be; try again");
        full.fields.emplace_back("Retry-After", "5");
        return full;
    }
    const Token* const token = access_.token_of(caller);
    request.who = token != nullptr ? token->name : kNobody;
    if (route->may_block) {
        return Work([route, request = std::move(request)] { return handle(*route, request); });
    }
    return handle(*route, request);
}

}  // namespace prefix_router::admin
