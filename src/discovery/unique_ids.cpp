#include "discovery/unique_ids.hpp"

#include <set>

namespace prefix_router::discovery {

void UniqueIds::assign(std::vector<config::Backend>& backends) {
    std::map<Wish, std::string> given;
    std::set<std::string> taken;
    for (const config::Backend& backend : backends) {
        const auto before = given_.find({backend.url.text, backend.id});
        const bool is_known = before != given_.end();
        given.emplace(Wish(backend.url.text, backend.id), is_known ? before->second : "");
        taken.insert(is_known ? before->second : "");
    }
    for (auto& [wish, id] : given) {
        const std::string& wished = wish.second;
        for (int i = 1; id.empty(); ++i) {
            const std::string next = i == 1 ? wished : wished + "-" + std::to_string(i);
            id = taken.insert(next).second ? next : "";
        }
    }
    for (config::Backend& backend : backends) {
        backend.id = given.at({backend.url.text, backend.id});
    }
    given_ = std::move(given);
}

}  // namespace prefix_router::discovery
