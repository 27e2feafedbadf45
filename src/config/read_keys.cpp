#include "config/read_keys.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/read_section.hpp"

namespace prefix_router::config {
namespace {

constexpr std::size_t kMostKeys = 10'000;

/// Reads entries of `name`, each with a name and a hash of its own, into `keys`.
template <class Key>
void read_keys(const RawNode& node, const std::string& name, const OptionTable<Key>& table,
               std::vector<Key>& keys, Report& report) {
    if (node.kind != RawNode::Kind::List) {
        report.add(node.line, name + ": must be a list of '- name: NAME' with a sha256 under it");
        return;
    }
    if (node.children.size() > kMostKeys) {
        report.add(node.line, name + ": holds " + std::to_string(node.children.size()) +
                                  " entries; at most " + std::to_string(kMostKeys));
        return;
    }
    keys.reserve(node.children.size());
    std::set<std::string_view> names;
    std::set<std::string_view> hashes;
    for (std::size_t i = 0; i < node.children.size(); ++i) {
        const RawNode& child = node.children[i];
        const std::string where = name + "[" + std::to_string(i) + "]";
        Key& key = keys.emplace_back();
        read_section(child, where + ".", where, table, key, report);
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

}  // namespace

void read_api_keys(const RawNode& node, Config& config, Report& report) {
    read_keys(node, "api_keys", api_key_options(), config.api_keys, report);
}

void read_admin_tokens(const RawNode& node, Config& config, Report& report) {
    read_keys(node, "admin_tokens", admin_token_options(), config.admin_tokens, report);
}

}  // namespace prefix_router::config
