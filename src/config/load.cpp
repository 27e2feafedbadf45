#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "config/option_tables.hpp"
#include "config/report.hpp"
#include "config/text_check.hpp"

namespace prefix_router::config {
namespace {

using Names = std::vector<std::string_view>;

template <class Section>
Names names_of(const OptionTable<Section>& table) {
    Names names;
    for (const auto& option : table) {
        names.push_back(option.name);
    }
    return names;
}

Names top_level_names() {
    Names names = names_of(top_level_options());
    names.push_back("backends");
    for_each_section([&](auto name, auto, auto, const auto&) { names.push_back(name); });
    return names;
}

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

bool has_child(const RawNode& map, std::string_view key) {
    return std::any_of(map.children.begin(), map.children.end(),
                       [&](const RawNode& child) { return child.key == key; });
}

/// Backends with the line of each, so that complaints about two of them can name both.
struct ReadBackend {
    Backend backend;
    int line = 0;
};

std::string name_of(const ReadBackend& read) {
    return "line " + std::to_string(read.line) + " (" + read.backend.url.text + ")";
}

std::optional<ReadBackend> read_backend(const RawNode& node, std::size_t index, Report& report) {
    const std::string where = "backends[" + std::to_string(index) + "]";
    if (node.kind == RawNode::Kind::Scalar) {
        report.add(node.line, where + ": write 'url: " + node.text + "'");
        return std::nullopt;
    }
    if (node.kind != RawNode::Kind::Map || !has_child(node, "url")) {
        report.add(node.line, where + ": the url is missing; write 'url: http://host:port'");
    }
    ReadBackend read;
    read.line = node.line;
    read_section(node, where + ".", where, backend_options(), read.backend, report);
    if (read.backend.url.text.empty()) {
        return std::nullopt;  // reported above or by its codec
    }
    if (read.backend.id.empty()) {
        read.backend.id = default_backend_id(read.backend.url);
    }
    return read;
}

void report_duplicates(const std::vector<ReadBackend>& backends, Report& report) {
    std::map<std::string_view, const ReadBackend*> by_url;
    std::map<std::string_view, const ReadBackend*> by_id;
    for (const ReadBackend& read : backends) {
        const auto [url, is_new_url] = by_url.emplace(read.backend.url.text, &read);
        if (!is_new_url) {
            report.add(read.line, "backend URL " + in_quotes(read.backend.url.text) +
                                      " is already in " + name_of(*url->second) +
                                      "; delete one of the entries");
            continue;
        }
        const auto [id, is_new_id] = by_id.emplace(read.backend.id, &read);
        if (!is_new_id) {
            report.add(read.line, "backend id " + in_quotes(read.backend.id) + " is already in " +
                                      name_of(*id->second) + "; give one of them another id");
        }
    }
}

void read_backends(const RawNode& node, Config& config, Report& report) {
    if (node.kind != RawNode::Kind::List || node.children.empty()) {
        report.add(node.line,
                   "backends: must be a list with at least one '- url: http://host:port'");
        return;
    }
    if (node.children.size() > kMaxBackends) {
        report.add(node.line, "backends: holds " + std::to_string(node.children.size()) +
                                  " entries; at most " + std::to_string(kMaxBackends));
        return;
    }
    std::vector<ReadBackend> backends;
    for (std::size_t i = 0; i < node.children.size(); ++i) {
        if (auto read = read_backend(node.children[i], i, report)) {
            backends.push_back(std::move(*read));
        }
    }
    report_duplicates(backends, report);
    for (ReadBackend& read : backends) {
        config.backends.push_back(std::move(read.backend));
    }
}

void read_top_level(const RawNode& node, Config& config, Report& report) {
    if (read_option(node, "", top_level_options(), config, report)) {
        return;
    }
    if (node.key == "backends") {
        read_backends(node, config, report);
        return;
    }
    bool is_section = false;
    for_each_section([&](std::string_view name, auto, auto member, const auto& table) {
        if (name == node.key) {
            is_section = true;
            const std::string where(name);
            read_section(node, where + ".", where, table, config.*member, report);
        }
    });
    if (!is_section) {
        report_unknown(node, "the top level", top_level_names(), report);
    }
}

/// Bounds that two options set together.
void check_together(const Config& config, const RawNode& root, Report& report) {
    if (config.limits.body_bytes > config.limits.buffered_bytes) {
        int line = 0;
        for (const RawNode& child : root.children) {
            line = child.key == "limits" ? child.key_line : line;
        }
        report.add(line,
                   "limits.body_bytes is above limits.buffered_bytes: such a body could never be "
                   "read; lower the one or raise the other");
    }
    if (config.admin && config.admin->port != 0 && *config.admin == config.listen) {
        report.add(0, "admin and listen are the same address; give admin another port");
    }
}

Config read_root(const RawNode& root, Report& report) {
    Config config;
    if (root.kind != RawNode::Kind::Map) {
        report.add(root.line, "must be a map with at least 'backends:' in it");
        return config;
    }
    for (const RawNode& child : root.children) {
        read_top_level(child, config, report);
    }
    if (!has_child(root, "backends")) {
        report.add(
            0, "backends: is missing; write 'backends:' and under it '- url: http://host:port'");
    }
    check_together(config, root, report);
    return config;
}

Loaded failed(const std::string& file, const std::string& message) {
    Loaded loaded;
    loaded.problems.push_back(Problem{file, 0, message});
    return loaded;
}

}  // namespace

Loaded load_text(const std::string& yaml, const std::string& name_for_messages) {
    Report report(name_for_messages);
    const RawNode root = read_yaml(yaml, report);
    Loaded loaded;
    if (report.empty()) {
        loaded.config = read_root(root, report);
    }
    if (!report.empty()) {
        loaded.config.reset();
    }
    loaded.problems = report.take();
    return loaded;
}

Loaded load_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        return failed(path, std::string("cannot be opened: ") + std::strerror(errno));
    }
    std::string text(kMaxFileBytes + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (file.bad() || (file.fail() && !file.eof())) {
        return failed(path, "cannot be read; is it a regular file?");
    }
    text.resize(static_cast<std::size_t>(file.gcount()));
    return load_text(text, path);
}

}  // namespace prefix_router::config
