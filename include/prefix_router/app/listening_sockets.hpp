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
    /// By a service manager, to this process or to one before it: they count wherever they listen.
    bool is_data_given = false;
    bool is_admin_given = false;
};

/// Leaves out, with a warning, what does not listen where `config` says and was not given: a
/// changed address is bound anew.
ListeningSockets matching(ListeningSockets sockets, const config::Config& config);

/// `first`, and what is missing there from `second`.
ListeningSockets completed(ListeningSockets first, ListeningSockets second);

}  // namespace prefix_router::app
