#pragma once

#include <vector>

#include "prefix_router/config/config.hpp"
#include "prefix_router/net/descriptor.hpp"

namespace prefix_router::app {

/// Sockets that listen already, from the service manager or a predecessor. What is empty is bound
/// anew.
struct ListeningSockets {
    std::vector<net::Descriptor> data;
    net::Descriptor admin;
};

/// Leaves out, with a warning, what does not listen where `config` says: a changed address is bound
/// anew. Of a predecessor's sockets only; the service manager's count as they are.
ListeningSockets matching(ListeningSockets sockets, const config::Config& config);

}  // namespace prefix_router::app
