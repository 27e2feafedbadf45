#include "config/read_keys.hpp"

#include <set>
#include <string>
#include <string_view>

#include "config/read_section.hpp"

namespace prefix_router::config {
namespace {

constexpr std::size_t kMostKeys = 10'000;

}  // namespace

void read_api_keys(const RawNode& node, Config& config, Report& report) {
    if (node.kind != RawNode::Kind::List) {
        report.add(node.line, "api_keys: must be a list of '- name: NAME' with a sha256 under it");
        return;
    }
    if (node.children.size() > kMostKeys) {
        report.add(node.line, "api_keys: holds " + std::to_string(node.children.size()) +
                                  " entries; at most " + std::to_string(kMostKeys));
        return;
    }
    config.api_keys.reserve(node.children.size());
    std::set<std::string_view> names;
    std::set<std::string_view> hashes;
    for (std::size_t i = 0; i < node.children.size(); ++i) {
        const RawNode& child = node.children[i];
        const std::string where = "api_keys[" + std::to_string(i) + "]";
        ApiKey& key = config.api_keys.emplace_back();
        read_section(child, where + ".", where, api_key_options(), key, report);
        if (!has_child(child, "name") || !has_child(child, "sha256")) {
            report.add(child.line, where + ": name and sha256 are required");
        }
        if (!key.name.empty() && !names.insert(key.name).second) {
            report.add(child.line, where + ": another key has the name '" + key.name + "'");
        }
        if (!key.sha256.empty() && !hashes.insert(key.sha256).second) {
            report.add(child.line, where + ": another entry has the same sha256");
        }
    }
}

}  // namespace prefix_router::config
