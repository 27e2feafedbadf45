#include "prefix_router/app/application.hpp"

#include <string>
#include <utility>
#include <vector>

#include <prometheus/gauge.h>
#include <spdlog/spdlog.h>

#include "prefix_router/admin/endpoints.hpp"
#include "prefix_router/admin/server.hpp"
#include "prefix_router/base/sha256.hpp"
#include "prefix_router/config/options.hpp"
#include "prefix_router/discovery/discovery.hpp"
#include "prefix_router/metrics/metrics.hpp"
#include "prefix_router/proxy/access_log.hpp"
#include "prefix_router/proxy/metrics.hpp"
#include "prefix_router/proxy/roster.hpp"
#include "prefix_router/proxy/routing_desk.hpp"
#include "prefix_router/proxy/server.hpp"
#include "prefix_router/sim/trace_writer.hpp"
#include "prefix_router/tracing/metrics.hpp"
#include "prefix_router/tracing/tracer.hpp"

#include "app/file_stamps.hpp"
#include "app/reloader.hpp"
#include "app/version.hpp"

namespace prefix_router::app {

namespace {

proxy::AskedForKeys asked_for_keys(const config::Config& config) {
    return config.api_keys.empty() ? proxy::AskedForKeys::No : proxy::AskedForKeys::Yes;
}

}  // namespace

// Members are built top to bottom and destroyed bottom to top: what others refer to comes first.
class Application::Parts {
  public:
    Parts(config::Config configuration, double factor)
        : config(std::move(configuration)),
          speed_up(factor),
          clock(factor),
          metrics(registry),
          tracing_metrics(registry),
          desk(config, metrics, clock, Random(seed_from_system())),
          roster(desk, metrics, asked_for_keys(config)) {}

    config::Config config;
    double speed_up;
    SteadyClock clock;
    metrics::Registry registry;
    proxy::Metrics metrics;
    tracing::Metrics tracing_metrics;
    proxy::RoutingDesk desk;
    proxy::Roster roster;
    std::unique_ptr<proxy::AccessLog> access_log;
    std::unique_ptr<sim::TraceWriter> trace;  // null: off
    std::unique_ptr<tracing::Tracer> tracer;  // null: off
    std::unique_ptr<proxy::Server> server;
    std::unique_ptr<Reloader> reloader;
    std::unique_ptr<admin::Server> admin;
    std::unique_ptr<discovery::Discovery> discovery;
    std::uint16_t port = 0;
    bool is_data_given = false;  // the sockets, by a service manager
    bool is_admin_given = false;
};

namespace {

/// Whoever writes a name into admin means to ask by it.
admin::Permissions admin_permissions(const config::Config& config) {
    admin::Permissions permissions;
    permissions.allowed_hosts.push_back(config.admin->host);
    const auto add = [&permissions](const std::string& name, const std::string& hash) {
        permissions.tokens.push_back({name, parse_sha256(hash).value_or(Sha256())});
    };
    if (config.admin_token_sha256) {
        add("admin", *config.admin_token_sha256);
    }
    for (const config::AdminToken& token : config.admin_tokens) {
        add(token.name, token.sha256);
    }
    return permissions;
}

/// The admin server, or null when it is off or its default port is taken in quick start. `way_out`
/// says how the operator gives it another address.
Result<std::unique_ptr<admin::Server>> start_admin(const config::Config& config,
                                                   const admin::Sources& sources,
                                                   net::Descriptor inherited,
                                                   const std::string& way_out) {
    if (!config.admin) {
        return std::unique_ptr<admin::Server>();
    }
    auto started = admin::Server::start(*config.admin, admin::endpoints(sources),
                                        std::move(inherited), admin_permissions(config));
    if (started) {
        return started;
    }
    const std::string problem =
        started.error().message() + "; choose another address with " + way_out;
    if (config.admin_is_optional) {
        spdlog::warn("{}; going on without the admin listener", problem);
        return std::unique_ptr<admin::Server>();
    }
    return Error(started.error().kind(), problem);
}

/// Which version serves: 1, by its label.
void show_build(metrics::Registry& registry) {
    registry.gauge("build_info", "1, with the version that serves", {{"version", kVersion}}).Set(1);
}

/// Null when tracing is off.
Result<std::unique_ptr<tracing::Tracer>> start_tracer(const config::Tracing& config,
                                                      tracing::Metrics& metrics) {
    if (!config.endpoint) {
        return std::unique_ptr<tracing::Tracer>();
    }
    return tracing::Tracer::start(config, kVersion, metrics);
}

/// The recorder of log.trace, or null when it is off.
Result<std::unique_ptr<sim::TraceWriter>> open_trace(const config::Log& log) {
    if (log.trace == "off") {
        return std::unique_ptr<sim::TraceWriter>();
    }
    sim::TraceWriter::Options options;
    options.path = log.trace;
    for (auto& byte : options.salt) {
        byte = static_cast<std::uint8_t>(seed_from_system());
    }
    return sim::TraceWriter::open(std::move(options));
}

std::unique_ptr<discovery::Discovery> start_discovery(const config::Discovery& config,
                                                      metrics::Registry& registry,
                                                      proxy::Roster& roster) {
    return std::make_unique<discovery::Discovery>(
        config, registry,
        [&roster](const std::string& source,
                  std::vector<config::Backend> backends) -> Result<void> {
            const auto changed = roster.replace(source, std::move(backends));
            return changed ? Result<void>() : changed.error();
        });
}

}  // namespace

Application::Application(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Application::~Application() {
    stop();
}

Result<std::unique_ptr<Application>> Application::start(config::Config config, double speed_up,
                                                        ListeningSockets inherited,
                                                        ConfigurationFile file) {
    auto named = stamps_of(files_named_in(config));  // before they are read
    auto parts = std::make_unique<Parts>(std::move(config), speed_up);
    parts->is_data_given = inherited.is_data_given;
    parts->is_admin_given = inherited.is_admin_given;
    if (const auto added =
            parts->roster.replace_configured(parts->config.backends, asked_for_keys(parts->config));
        !added) {
        return added.error();
    }
    auto log = proxy::AccessLog::open(parts->config.log, parts->metrics.access_log_dropped);
    if (!log) {
        return log.error();
    }
    parts->access_log = std::move(*log);
    auto trace = open_trace(parts->config.log);
    if (!trace) {
        return trace.error();
    }
    parts->trace = std::move(*trace);
    auto tracer = start_tracer(parts->config.tracing, parts->tracing_metrics);
    if (!tracer) {
        return tracer.error();
    }
    parts->tracer = std::move(*tracer);
    const proxy::Server::Surroundings around{parts->desk,        parts->metrics, *parts->access_log,
                                             parts->trace.get(), parts->clock,   parts->speed_up,
                                             parts->tracer.get()};
    auto server = proxy::Server::make(parts->config, around);
    if (!server) {
        return server.error();
    }
    parts->server = std::move(*server);
    const std::string way_out =
        file.path.empty() ? "--admin HOST:PORT, or --admin off" : "admin: host:port, or admin: off";
    parts->reloader = std::make_unique<Reloader>(
        std::move(file), std::move(named), parts->config,
        Reloader::Surroundings{*parts->server, parts->roster, parts->registry});
    show_build(parts->registry);
    auto admin = start_admin(parts->config,
                             {*parts->reloader, parts->registry, parts->metrics, parts->desk,
                              parts->roster, *parts->server, parts->clock},
                             std::move(inherited.admin), way_out);
    if (!admin) {
        return admin.error();
    }
    parts->admin = std::move(*admin);
    const auto port = parts->server->start(std::move(inherited.data));
    if (!port) {
        return port.error();
    }
    parts->port = *port;
    config::ListenAddress where = parts->config.listen;
    where.port = parts->port;
    spdlog::info("serving on {} with {} backends, strategy {}", config::to_string(where),
                 parts->config.backends.size(), config::to_string(parts->config.routing.strategy));
    parts->discovery = start_discovery(parts->config.discovery, parts->registry, parts->roster);
    return std::unique_ptr<Application>(new Application(std::move(parts)));
}

std::uint16_t Application::port() const {
    return parts_->port;
}

std::optional<std::uint16_t> Application::admin_port() const {
    return parts_->admin ? std::optional(parts_->admin->port()) : std::nullopt;
}

admin::Levers::Reloaded Application::reload(const std::string& who) {
    return parts_->reloader->reload(who);
}

void Application::reload_if_changed() {
    parts_->reloader->reload_if_changed();
}

Result<ListeningSockets> Application::listening_sockets() const {
    ListeningSockets sockets;
    sockets.is_data_given = parts_->is_data_given;
    sockets.is_admin_given = parts_->is_admin_given;
    auto data = parts_->server->listening_sockets();
    if (!data) {
        return data.error();
    }
    sockets.data = std::move(*data);
    if (parts_->admin) {
        auto admin = parts_->admin->listening_socket();
        if (!admin) {
            return admin.error();
        }
        sockets.admin = std::move(*admin);
    }
    return sockets;
}

void Application::drain(proxy::Successor successor) {
    if (successor == proxy::Successor::Accepts && parts_->admin) {
        parts_->admin->retire();
    }
    parts_->server->drain(successor);
}

void Application::stop() {
    if (parts_->discovery) {
        parts_->discovery->stop();
    }
    parts_->server->stop();
}

}  // namespace prefix_router::app
