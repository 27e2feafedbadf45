#include "discovery/cluster_access.hpp"

#include <cstdlib>
#include <utility>

#include <openssl/evp.h>

#include "prefix_router/config/config.hpp"
#include "prefix_router/config/kubeconfig.hpp"

namespace prefix_router::discovery {
namespace {

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

Result<std::string> content_of(const std::string& path) {
    auto text = config::read_file(path);
    if (text.has_error()) {
        return Error(text.error().kind(), path + ": " + text.error().message());
    }
    return text;
}

/// A token or a name: without the line's end that editors leave.
Result<std::string> word_in(const std::string& path) {
    auto text = content_of(path);
    if (text.has_value()) {
        text->erase(text->find_last_not_of(" \t\r\n") + 1);
        if (text->find_first_of("\r\n") != std::string::npos || text->empty()) {
            return Error(ErrorKind::InvalidConfiguration, path + ": must be one line");
        }
    }
    return text;
}

Result<std::string> decoded(const std::string& base64) {
    std::string text(base64.size() / 4 * 3 + 3, '\0');
    const int length = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                       reinterpret_cast<const unsigned char*>(base64.data()),
                                       static_cast<int>(base64.size()));
    if (length < 0) {
        return Error(ErrorKind::InvalidConfiguration, "a -data field is no base64");
    }
    text.resize(static_cast<std::size_t>(length));
    while (text.ends_with('\0')) {  // what the padding stood for
        text.pop_back();
    }
    return text;
}

/// Leaves `pem` alone where nothing is set.
Result<void> read_pem(const config::KubeconfigText& from, std::optional<std::string>& pem) {
    if (!from.is_set()) {
        return {};
    }
    auto text = from.base64.empty() ? content_of(from.file) : decoded(from.base64);
    if (text.has_error()) {
        return text.error();
    }
    pem = std::move(*text);
    return {};
}

}  // namespace

ServiceAccount ServiceAccount::of_this_pod() {
    ServiceAccount account;
    account.host = variable("KUBERNETES_SERVICE_HOST");
    account.port = variable("KUBERNETES_SERVICE_PORT");
    return account;
}

Result<ClusterAccess> read_service_account(const ServiceAccount& account) {
    if (account.host.empty() || account.port.empty()) {
        return Error(ErrorKind::InvalidConfiguration,
                     "KUBERNETES_SERVICE_HOST and _PORT are not set: this is no pod; write "
                     "discovery.kubernetes[].kubeconfig");
    }
    auto token = word_in(account.folder + "/token");
    auto ca = content_of(account.folder + "/ca.crt");
    auto name_space = word_in(account.folder + "/namespace");
    for (const auto* read : {&token, &ca, &name_space}) {
        if (read->has_error()) {
            return Error(read->error().kind(),
                         read->error().message() + "; has the pod a service account?");
        }
    }
    ClusterAccess access;
    const bool is_ipv6 = account.host.find(':') != std::string::npos;
    access.server =
        "https://" + (is_ipv6 ? "[" + account.host + "]" : account.host) + ":" + account.port;
    access.name_space = std::move(*name_space);
    access.token = std::move(*token);
    access.tls.ca = std::move(*ca);
    return access;
}

Result<ClusterAccess> read_kubeconfig(const std::string& path) {
    auto config = config::load_kubeconfig(path);
    if (config.has_error()) {
        return config.error();
    }
    ClusterAccess access;
    access.server = config->server;
    access.name_space = config->name_space;
    access.tls.verify = config->verify;
    const auto ca = read_pem(config->ca, access.tls.ca);
    const auto certificate = read_pem(config->certificate, access.tls.certificate);
    const auto key = read_pem(config->key, access.tls.key);
    for (const auto* read : {&ca, &certificate, &key}) {
        if (read->has_error()) {
            return Error(read->error().kind(), path + ": " + read->error().message());
        }
    }
    if (!config->token_file.empty()) {
        auto token = word_in(config->token_file);
        if (token.has_error()) {
            return token.error();
        }
        access.token = std::move(*token);
    } else if (!config->token.empty()) {
        access.token = config->token;
    }
    return access;
}

}  // namespace prefix_router::discovery
