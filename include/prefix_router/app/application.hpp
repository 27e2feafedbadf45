#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "prefix_router/admin/levers.hpp"
#include "prefix_router/app/configuration_file.hpp"
#include "prefix_router/app/listening_sockets.hpp"
#include "prefix_router/base/error.hpp"
#include "prefix_router/config/config.hpp"
#include "prefix_router/proxy/server.hpp"

namespace prefix_router::app {

/// The composition root: builds every part from one configuration and owns them all. Tests start it
/// in-process with port 0. One owner; drain() and stop() may be called from different threads.
class Application {
  public:
    /// Serves when it returns; backends need not be reachable. Errors: Io (a port in use),
    /// InvalidConfiguration (an access log that cannot be opened).
    /// `speed_up` is for benchmarks: the routing's time runs that many times faster than real time;
    /// network timeouts do not. `inherited` sockets are served instead of binding. `file` is where
    /// `config` was read, and what reloads read.
    static Result<std::unique_ptr<Application>> start(config::Config config, double speed_up = 1,
                                                      ListeningSockets inherited = {},
                                                      ConfigurationFile file = {});
    ~Application();
    Application(const Application&) = delete;
    Application& operator=(const Application&) = delete;

    std::uint16_t port() const;
    std::optional<std::uint16_t> admin_port() const;  ///< empty: admin is off

    /// Copies of what it listens on, for another process. Error: Io.
    Result<ListeningSockets> listening_sockets() const;

    /// Reads the configuration file again, and the files that it names; a problem changes nothing.
    /// `who` wants it, for the log.
    admin::Levers::Reloaded reload(const std::string& who);
    /// With reload.watch, when a file has changed; to be called every second.
    void reload_if_changed();

    /// Not ready, then no new connections, running answers finish; returns when they have or when
    /// the grace period is over. With a successor the admin listener is its, too, from now on.
    /// stop() from another thread ends it early.
    void drain(proxy::Successor successor = proxy::Successor::None);
    /// Ends at once. Idempotent.
    void stop();

  private:
    class Parts;
    explicit Application(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

}  // namespace prefix_router::app
