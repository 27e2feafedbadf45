#pragma once

#include <optional>
#include <string>
#include <vector>

#include "prefix_router/base/error.hpp"
#include "prefix_router/web/http_client.hpp"

namespace prefix_router::discovery {

/// How to talk to the API server of a cluster, as its files say now. It holds secrets.
struct ClusterAccess {
    std::string server;  ///< "https://10.0.0.1:443"
    std::string name_space;
    std::optional<std::string> token;
    web::HttpTls tls;
};

/// Where a pod finds its service account.
struct ServiceAccount {
    std::string folder = "/var/run/secrets/kubernetes.io/serviceaccount";
    std::string host;  ///< KUBERNETES_SERVICE_HOST
    std::string port;  ///< KUBERNETES_SERVICE_PORT

    static ServiceAccount of_this_pod();
};

/// Errors: Io (a file), InvalidConfiguration.
Result<ClusterAccess> read_service_account(const ServiceAccount& account);
Result<ClusterAccess> read_kubeconfig(const std::string& path);

}  // namespace prefix_router::discovery
