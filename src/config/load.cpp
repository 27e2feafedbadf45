#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "prefix_router/base/small_file.hpp"

#include "config/option_tables.hpp"
#include "config/read_backends.hpp"
#include "config/read_discovery.hpp"
#include "config/read_keys.hpp"
#include "config/read_section.hpp"
#include "config/report.hpp"
#include "config/text_check.hpp"

namespace prefix_router::config {
namespace {

Names top_level_names() {
    Names names = names_of(top_level_options());
    names.push_back("admin_tokens");
    names.push_back("api_keys");
    names.push_back("backends");
    for_each_section([&](auto name, auto, auto, const auto&) { names.push_back(name); });
    return names;
}

void read_top_level(const RawNode& node, Config& config, Report& report) {
    if (read_option(node, "", top_level_options(), config, report)) {
        return;
    }
    if (node.key == "admin_tokens") {
        read_admin_tokens(node, config, report);
        return;
    }
    if (node.key == "api_keys") {
        read_api_keys(node, config, report);
        return;
    }
    if (node.key == "backends") {
        read_backends(node, config, report);
        return;
    }
    if (node.key == "discovery") {
        read_discovery(node, config, report);
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

const RawNode* find_child(const RawNode& root, std::string_view key) {
    const RawNode* found = nullptr;
    for (const RawNode& child : root.children) {
        found = child.key == key ? &child : found;
    }
    return found;
}

int line_of(const RawNode& root, std::string_view section) {
    const RawNode* found = find_child(root, section);
    return found == nullptr ? 0 : found->key_line;
}

/// Bounds that two options set together.
void check_together(const Config& config, const RawNode& root, Report& report) {
    if (config.limits.body_bytes > config.limits.buffered_bytes) {
        report.add(line_of(root, "limits"),
                   "limits.body_bytes is above limits.buffered_bytes: such a body could never be "
                   "read; lower the one or raise the other");
    }
    if (config.tls.certificate.has_value() != config.tls.key.has_value()) {
        report.add(0, "tls: certificate and key go together; write both, or neither");
    }
    if (config.tls.client_ca && !config.tls.certificate) {
        report.add(0, "tls.client_ca needs tls.certificate and tls.key; write them");
    }
    if (config.queue.max_bytes != 0 && config.queue.max_bytes < config.limits.body_bytes) {
        report.add(line_of(root, "queue"),
                   "queue.max_bytes is below limits.body_bytes: such a body could never wait; "
                   "raise the one or lower the other");
    }
    for (const AdminToken& token : config.admin_tokens) {
        if (config.admin_token_sha256 &&
            (token.name == "admin" || token.sha256 == config.admin_token_sha256)) {
            report.add(line_of(root, "admin_tokens"),
                       "admin_tokens: '" + token.name +
                           "' is also admin_token_sha256, whose name is "
                           "admin; delete one of them");
        }
    }
    if (config.admin && config.admin->port != 0 && *config.admin == config.listen) {
        report.add(0, "admin and listen are the same address; give admin another port");
    }
}

void check_backends(const Config& config, const RawNode& root, Report& report) {
    if (config.discovery.is_on() || !config.backends.empty()) {
        return;
    }
    const RawNode* backends = find_child(root, "backends");
    if (backends == nullptr) {
        report.add(
            0, "backends: is missing; write 'backends:' and under it '- url: http://host:port'");
    } else if (backends->children.empty() &&
               (backends->kind == RawNode::Kind::Null || backends->kind == RawNode::Kind::List)) {
        report.add(backends->line,
                   "backends: must be a list with at least one '- url: http://host:port', or "
                   "discovery must name a source");
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
    check_backends(config, root, report);
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
    const std::optional<RawNode> root = read_yaml(yaml, report);
    Loaded loaded;
    if (root) {
        loaded.config = read_root(*root, report);
    }
    if (!report.empty()) {
        loaded.config.reset();
    }
    loaded.problems = report.take();
    return loaded;
}

Result<Backend> parse_backend(const std::string& yaml) {
    Report report("backend");
    const std::optional<RawNode> root = read_yaml(yaml, report);
    std::optional<Backend> backend;
    if (root) {
        backend = read_backend(*root, "backend", report);
    }
    if (backend && report.empty()) {
        return std::move(*backend);
    }
    std::string all;
    for (const Problem& problem : report.take()) {
        all += (all.empty() ? "" : "; ") + problem.message;
    }
    return Error(ErrorKind::InvalidConfiguration, all);
}

LoadedBackends load_backends(const std::string& text, const std::string& name_for_messages) {
    Report report(name_for_messages);
    const std::optional<RawNode> root = read_yaml(text, report);
    Config config;
    if (root) {
        read_only_backends(*root, config, report);
    }
    LoadedBackends loaded;
    if (report.empty()) {
        loaded.backends = std::move(config.backends);
    }
    loaded.problems = report.take();
    return loaded;
}

Result<std::string> read_file(const std::string& path) {
    return read_small_file(path, kMaxFileBytes);
}

Loaded load_file(const std::string& path) {
    const auto text = read_file(path);
    return text ? load_text(*text, path) : failed(path, text.error().message());
}

}  // namespace prefix_router::config
