#pragma once

#include <csignal>
#include <mutex>
#include <string>
#include <vector>

#include "prefix_router/admin/levers.hpp"
#include "prefix_router/base/error.hpp"
#include "prefix_router/config/config.hpp"
#include "prefix_router/metrics/metrics.hpp"
#include "prefix_router/proxy/roster.hpp"
#include "prefix_router/proxy/server.hpp"

#include "app/file_stamps.hpp"

namespace prefix_router::app {

/// Brings a changed configuration file into force as a whole, or says why not; then nothing has
/// changed. Thread-safe: one reload at a time, which holds up nobody who asks for what is in force.
class Reloader final : public admin::Levers {
  public:
    /// Sent to this process when the admin listener is asked to drain it.
    static constexpr int kDrainSignal = SIGUSR2;

    struct Surroundings {
        proxy::Server& server;
        proxy::Roster& roster;
        metrics::Registry& registry;
    };

    /// `running` is in force and was read in `file`; `named` are the stamps of the files that it
    /// names, from before they were read. Without a file a reload reads certificates and
    /// credentials again.
    Reloader(ConfigurationFile file, std::vector<FileStamp> named, config::Config running,
             const Surroundings& around);

    Reloaded reload(const std::string& who) override;
    Result<void> set_log_level(const std::string& level) override;
    void drain() override;
    config::Config effective() const override;

    /// With reload.watch: reloads once a file has changed and looks the same as at the last call.
    void reload_if_changed();

  private:
    config::Loaded read();
    Reloaded bring_into_force(config::Loaded loaded);
    std::vector<std::string> problems_with(const config::Config& next) const;
    void tell(const std::string& who, const Reloaded& reloaded);

    const std::string path_;
    const Surroundings around_;
    prometheus::Counter& reloads_;
    prometheus::Counter& failures_;
    prometheus::Gauge& last_successful_;
    prometheus::Gauge& last_success_;

    std::mutex reloading_;  // held for a whole reload, guards these:
    std::vector<std::string> watched_;
    std::vector<FileStamp> loaded_;  // of watched_, from before they were read
    std::vector<FileStamp> seen_;

    mutable std::mutex mutex_;  // for these while they are changed, or read without the other:
    config::Config running_;    // as the file says
    std::string log_level_;     // in force
};

}  // namespace prefix_router::app
