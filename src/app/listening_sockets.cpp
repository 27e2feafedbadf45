#include "prefix_router/app/listening_sockets.hpp"

#include <algorithm>

#include <spdlog/spdlog.h>

#include "prefix_router/config/options.hpp"
#include "prefix_router/net/listener.hpp"

namespace prefix_router::app {
namespace {

bool listens_at(const net::Descriptor& socket, const config::ListenAddress& address) {
    const auto bound = net::bound_endpoint(socket);
    const auto wanted = net::listen_endpoint(address);
    return bound && wanted && bound->host() == wanted->host() &&
           (address.port == 0 || bound->port() == wanted->port());
}

}  // namespace

ListeningSockets matching(ListeningSockets sockets, const config::Config& config) {
    const auto is_elsewhere = [&config](const net::Descriptor& socket) {
        return !listens_at(socket, config.listen);
    };
    if (std::erase_if(sockets.data, is_elsewhere) > 0) {
        spdlog::warn("listen is {} now: connections that wait at the former address are reset",
                     config::to_string(config.listen));
    }
    if (!config.admin || !sockets.admin.is_open() || !listens_at(sockets.admin, *config.admin)) {
        sockets.admin = net::Descriptor();
    }
    return sockets;
}

}  // namespace prefix_router::app
