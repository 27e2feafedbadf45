#pragma once

#include <optional>
#include <string>

#include "prefix_router/base/error.hpp"

namespace prefix_router::config {

/// Something that a kubeconfig holds in base64, or names a file of.
struct KubeconfigText {
    std::string file;    ///< absolute; "" without one
    std::string base64;  ///< comes first

    bool is_set() const { return !file.empty() || !base64.empty(); }
};

/// The current context of a kubeconfig: cluster, user and namespace. It holds secrets.
struct Kubeconfig {
    std::string server;  ///< without a slash at its end
    std::string name_space = "default";
    bool verify = true;
    KubeconfigText ca;
    KubeconfigText certificate;
    KubeconfigText key;
    std::string token_file;  ///< comes first
    std::string token;
};

/// Error: Io, InvalidConfiguration (what is missing, or is not understood: plugins that log in, a
/// server name apart from the URL's).
Result<Kubeconfig> load_kubeconfig(const std::string& path);
/// The same for its text; files are relative to `folder`.
Result<Kubeconfig> parse_kubeconfig(const std::string& text, const std::string& folder);

}  // namespace prefix_router::config
