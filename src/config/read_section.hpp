#pragma once

// Reading a map of the file by its option table.

#include <string>
#include <string_view>
#include <vector>

#include "config/option_tables.hpp"
#include "config/report.hpp"

namespace prefix_router::config {

using Names = std::vector<std::string_view>;

template <class Section>
Names names_of(const OptionTable<Section>& table) {
    Names names;
    for (const auto& option : table) {
        names.push_back(option.name);
    }
    return names;
}

bool has_child(const RawNode& map, std::string_view key);

/// Says what the key may have been meant to be.
void report_unknown(const RawNode& node, const std::string& where, const Names& known,
                    Report& report);

/// Reads `node` if the table has its key. Returns whether it has.
template <class Section>
bool read_option(const RawNode& node, const std::string& prefix, const OptionTable<Section>& table,
                 Section& section, Report& report) {
    for (const auto& option : table) {
        if (option.name != node.key) {
            continue;
        }
        const auto outcome = option.read(section, node);
        if (outcome.has_error()) {
            report.add(node.line,
                       prefix + std::string(option.name) + ": " + outcome.error().message());
        }
        return true;
    }
    return false;
}

template <class Section>
void read_section(const RawNode& node, const std::string& prefix, const std::string& where,
                  const OptionTable<Section>& table, Section& section, Report& report) {
    if (node.kind == RawNode::Kind::Null) {
        return;  // "routing:" with every line under it commented out
    }
    if (node.kind != RawNode::Kind::Map) {
        report.add(node.line, where + " must be a map: one 'name: value' per line, indented");
        return;
    }
    for (const RawNode& child : node.children) {
        if (!read_option(child, prefix, table, section, report)) {
            report_unknown(child, where, names_of(table), report);
        }
    }
}

}  // namespace prefix_router::config
