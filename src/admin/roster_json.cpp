#include "admin/roster_json.hpp"

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
    };
}

}  // namespace prefix_router::admin
