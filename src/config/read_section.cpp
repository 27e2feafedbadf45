#include "config/read_section.hpp"

#include <algorithm>
#include <optional>

#include "prefix_router/base/spelling.hpp"

namespace prefix_router::config {
namespace {

/// The full name of an option that another section has under this name: "routing.hold".
std::optional<std::string> found_elsewhere(std::string_view key) {
    static const std::vector<OptionFacts> all = describe_options();
    for (const OptionFacts& facts : all) {
        const auto last_word = std::string_view(facts.name).substr(facts.name.rfind('.') + 1);
        if (last_word == key) {
            return facts.name;
        }
    }
    return std::nullopt;
}

}  // namespace

bool has_child(const RawNode& map, std::string_view key) {
    return std::any_of(map.children.begin(), map.children.end(),
                       [&](const RawNode& child) { return child.key == key; });
}

void report_unknown(const RawNode& node, const std::string& where, const Names& known,
                    Report& report) {
    std::string message = "unknown key " + in_quotes(node.key) + " in " + where;
    if (const auto nearest = nearest_name(node.key, known)) {
        message += "; did you mean '" + std::string(*nearest) + "'?";
    } else if (const auto elsewhere = found_elsewhere(node.key)) {
        message += "; did you mean '" + *elsewhere + "'?";
    } else {
        message += "; known are:";
        for (const auto name : known) {
            message += " " + std::string(name);
        }
    }
    report.add(node.key_line, message);
}

}  // namespace prefix_router::config
