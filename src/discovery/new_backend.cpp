#include "discovery/new_backend.hpp"

#include <utility>

#include "prefix_router/config/options.hpp"

namespace prefix_router::discovery {

Result<config::Backend> new_backend(const config::Backend& common, const std::string& host,
                                    std::uint16_t port) {
    auto url = config::parse_backend_url((common.url.is_tls ? "https://" : "http://") +
                                         config::to_string(config::ListenAddress{host, port}));
    if (url.has_error()) {
        return url.error();
    }
    config::Backend backend = common;
    backend.id = config::default_backend_id(*url);
    backend.url = std::move(*url);
    return backend;
}

}  // namespace prefix_router::discovery
