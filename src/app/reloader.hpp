#pragma once

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
/// changed. Thread-safe: one reload at a time.
class Reloader final : public admin::Levers {
  public:
    struct Surroundings {
        proxy::Server& server;
        proxy::Roster& roster;
        metrics::Registry& registry;
    };

    /// `path` of the file; "" where there is none: a reload then reads certificates and credentials
    /// again. `running` is in force.
    Reloader(std::string path, config::Config running, const Surroundings& around);

    Reloaded reload(const std::string& who) override;
    Result<void> set_log_level(const std::string& level) override;
    void drain() override;
    config::Config effective() const override;

    /// With reload.watch: reloads once a file has changed and looks the same as at the last call.
    void reload_if_changed();

  private:
    Reloaded bring_into_force();
    std::vector<std::string> problems_with(const config::Config& next) const;
    std::vector<FileStamp> look() const;
    void tell(const std::string& who, const Reloaded& reloaded);

    const std::string path_;
    const Surroundings around_;
    prometheus::Counter& reloads_;
    prometheus::Counter& failures_;
    prometheus::Gauge& last_successful_;
    prometheus::Gauge& last_success_;

    mutable std::mutex mutex_;
    config::Config running_;  // as the file says
    std::string log_level_;   // in force
    std::vector<FileStamp> loaded_;
    std::vector<FileStamp> seen_;
};

}  // namespace prefix_router::app
