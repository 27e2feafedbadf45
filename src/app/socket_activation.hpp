#pragma once

#include "prefix_router/app/listening_sockets.hpp"
#include "prefix_router/base/error.hpp"

namespace prefix_router::app {

/// The sockets that a service manager passed (sd_listen_fds(3): LISTEN_PID, LISTEN_FDS,
/// LISTEN_FDNAMES): the one named "admin" is the admin listener's, all others are for clients.
/// Empty when there are none or when they are another process's. Takes the variables out of the
/// environment: call once, before any thread starts.
/// Errors: InvalidConfiguration, for a descriptor that is no listening stream socket.
Result<ListeningSockets> sockets_from_service_manager();

}  // namespace prefix_router::app
