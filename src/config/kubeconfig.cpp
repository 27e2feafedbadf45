#include "prefix_router/config/kubeconfig.hpp"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "prefix_router/config/config.hpp"

#include "config/raw_yaml.hpp"
#include "config/report.hpp"

namespace prefix_router::config {
namespace {

Error invalid(std::string message) {
    return Error(ErrorKind::InvalidConfiguration, std::move(message));
}

const RawNode* child(const RawNode* node, std::string_view key) {
    if (node != nullptr) {
        for (const RawNode& one : node->children) {
            if (one.key == key) {
                return &one;
            }
        }
    }
    return nullptr;
}

std::string text(const RawNode* node, std::string_view key) {
    const RawNode* const found = child(node, key);
    return found == nullptr ? "" : found->text;
}

/// `what` of the entry with this name in the list `list`.
const RawNode* named(const RawNode& root, std::string_view list, std::string_view name,
                     std::string_view what) {
    const RawNode* const entries = child(&root, list);
    if (entries != nullptr) {
        for (const RawNode& entry : entries->children) {
            if (text(&entry, "name") == name) {
                return child(&entry, what);
            }
        }
    }
    return nullptr;
}

std::string file(const RawNode* node, std::string_view key, const std::string& folder) {
    std::string path = text(node, key);
    return path.empty() || path.front() == '/' ? path : folder + "/" + path;
}

KubeconfigText text_or_file(const RawNode* node, const std::string& key,
                            const std::string& folder) {
    return {file(node, key, folder), text(node, key + "-data")};
}

Result<void> read_cluster(const RawNode* cluster, const std::string& folder, Kubeconfig& config) {
    config.server = text(cluster, "server");
    if (!config.server.starts_with("https://") && !config.server.starts_with("http://")) {
        return invalid("the cluster has no server: https://...");
    }
    while (config.server.ends_with('/')) {
        config.server.pop_back();
    }
    if (!text(cluster, "tls-server-name").empty()) {
        return invalid("tls-server-name is not supported; give the server's URL that name");
    }
    config.verify = text(cluster, "insecure-skip-tls-verify") != "true";
    config.ca = text_or_file(cluster, "certificate-authority", folder);
    return {};
}

Result<void> read_user(const RawNode* user, const std::string& folder, Kubeconfig& config) {
    for (const auto* plugin : {"exec", "auth-provider", "username"}) {
        if (child(user, plugin) != nullptr) {
            return invalid(std::string("the user logs in by '") + plugin +
                           "', which is not supported; use a token, a tokenFile or a client "
                           "certificate");
        }
    }
    config.token = text(user, "token");
    config.token_file = file(user, "tokenFile", folder);
    config.certificate = text_or_file(user, "client-certificate", folder);
    config.key = text_or_file(user, "client-key", folder);
    if (config.certificate.is_set() != config.key.is_set()) {
        return invalid("client-certificate and client-key go together; the user has one of them");
    }
    return {};
}

}  // namespace

Result<Kubeconfig> parse_kubeconfig(const std::string& yaml, const std::string& folder) {
    Report report("kubeconfig");
    const std::optional<RawNode> read = read_yaml(yaml, report);
    if (!read || !report.empty()) {
        return invalid(to_string(report.take().front()));
    }
    const RawNode& root = *read;
    const std::string current = text(&root, "current-context");
    const RawNode* const context = named(root, "contexts", current, "context");
    if (context == nullptr) {
        return invalid("the kubeconfig has no current-context that is among its contexts");
    }
    Kubeconfig config;
    if (const auto name_space = text(context, "namespace"); !name_space.empty()) {
        config.name_space = name_space;
    }
    const auto cluster =
        read_cluster(named(root, "clusters", text(context, "cluster"), "cluster"), folder, config);
    if (cluster.has_error()) {
        return cluster.error();
    }
    const auto user =
        read_user(named(root, "users", text(context, "user"), "user"), folder, config);
    if (user.has_error()) {
        return user.error();
    }
    return config;
}

Result<Kubeconfig> load_kubeconfig(const std::string& path) {
    const auto yaml = read_file(path);
    if (yaml.has_error()) {
        return Error(yaml.error().kind(), path + ": " + yaml.error().message());
    }
    auto config = parse_kubeconfig(*yaml, path.substr(0, path.rfind('/')));
    if (config.has_error()) {
        return Error(config.error().kind(), path + ": " + config.error().message());
    }
    return config;
}

}  // namespace prefix_router::config
