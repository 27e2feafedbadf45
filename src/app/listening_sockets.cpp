#include "prefix_router/app/listening_sockets.hpp"

#include <algorithm>
#include <utility>

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
    if (!sockets.is_data_given && std::erase_if(sockets.data, is_elsewhere) > 0) {
        spdlog::warn("listen is {} now: connections that wait at the former address are reset",
                     config::to_string(config.listen));
    }
    const bool is_admin_wanted =
        config.admin && sockets.admin.is_open() &&
        (sockets.is_admin_given || listens_at(sockets.admin, *config.admin));
    if (!is_admin_wanted) {
        sockets.admin = net::Descriptor();
    }
    return sockets;
}

ListeningSockets completed(ListeningSockets first, ListeningSockets second) {
    if (first.data.empty()) {
        first.data = std::move(second.data);
        first.is_data_given = second.is_data_given;
    }
    if (!first.admin.is_open()) {
        first.admin = std::move(second.admin);
        first.is_admin_given = second.is_admin_given;
    }
    return first;
}

}  // namespace prefix_router::app
