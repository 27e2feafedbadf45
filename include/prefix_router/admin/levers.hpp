#pragma once

#include <string>
#include <vector>

#include "prefix_router/base/error.hpp"
#include "prefix_router/config/config.hpp"
#include "prefix_router/proxy/roster.hpp"

namespace prefix_router::admin {

/// What can be done to the whole router from outside; the application implements it. Thread-safe.
class Levers {
  public:
    struct Reloaded {
        std::vector<std::string> problems;  ///< empty: all is in force; else nothing has changed
        std::vector<std::string> warnings;  ///< what is in force and probably meant otherwise
        std::vector<std::string> options;   ///< those that changed
        proxy::Roster::Change backends;
    };

    /// Reads the configuration file again; `who` wants it, for the log.
    virtual Reloaded reload(const std::string& who) = 0;
    /// In force until the file says another one. Error: InvalidConfiguration.
    virtual Result<void> set_log_level(const std::string& level) = 0;
    /// As on SIGTERM: not ready, answers end, then the process.
    virtual void drain() = 0;
    /// The configuration in force, with the backends of the file and of operators as they are now.
    virtual config::Config effective() const = 0;

  protected:
    ~Levers() = default;
};

}  // namespace prefix_router::admin
