#include "admin/roster_json.hpp"

#include <utility>

#include "prefix_router/proxy/url_advice.hpp"

namespace prefix_router::admin {

using nlohmann::json;

json member_json(const std::string& id, const proxy::Roster::Member& member) {
    const config::Backend backend = proxy::in_force(member);
    json set_here = json::array();
    if (member.wishes.weight) {
        set_here.push_back("weight");
    }
    if (member.wishes.capacity_tokens) {
        set_here.push_back("capacity_tokens");
    }
    if (member.wishes.models) {
        set_here.push_back("models");
    }
    json warnings = json::array();
    if (auto advice = proxy::advice_on(backend.url)) {
        warnings.push_back(std::move(*advice));
    }
    return {
        {"id", id},
        {"url", backend.url.text},
        {"source", member.source},
        {"draining", member.wishes.drains},
        {"weight", backend.weight},
        {"capacity_tokens",
         backend.capacity_tokens ? json(*backend.capacity_tokens) : json(nullptr)},
        {"models", backend.models},
        {"set_here", std::move(set_here)},
        {"warnings", std::move(warnings)},
    };
}

}  // namespace prefix_router::admin
