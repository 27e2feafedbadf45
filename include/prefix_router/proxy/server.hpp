#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/base/error.hpp"
#include "prefix_router/config/config.hpp"
#include "prefix_router/net/descriptor.hpp"
#include "prefix_router/proxy/access_log.hpp"
#include "prefix_router/proxy/explanation.hpp"
#include "prefix_router/proxy/metrics.hpp"
#include "prefix_router/proxy/routing_desk.hpp"

namespace prefix_router::sim {
class TraceWriter;
}
namespace prefix_router::tracing {
class Tracer;
}

namespace prefix_router::proxy {

struct Settings;

/// Whether another process accepts from the same listening sockets.
enum class Successor : unsigned char { None, Accepts };

/// The data plane: worker threads that accept, route and relay, and one control thread that probes
/// and scrapes the backends. One owner calls start(), drain() and stop(); the rest is thread-safe.
///
///     auto server = Server::make(config, {desk, metrics, access_log, trace, clock});
///     auto port = (*server)->start({});    // error: Io, such as a port in use
///     ...                                  // SIGTERM
///     (*server)->drain(Successor::None);   // returns when all answers are complete or grace is
///     over
///     (*server)->stop();                   // also by the destructor
///
class Server {
  public:
    /// What the server stands on; all of it outlives the server.
    struct Surroundings {
        RoutingDesk& desk;
        Metrics& metrics;
        AccessLog& access_log;
        sim::TraceWriter* trace;  ///< null: served requests are not recorded
        const Clock& clock;
        double speed_up = 1;  ///< the clock's seconds per real second: 1 except in benchmarks
        tracing::Tracer* tracer = nullptr;  ///< null: requests are not traced
    };

    /// `config` is in force, with certificate and key as they are now. Error:
    /// InvalidConfiguration, with the reason.
    static Result<std::unique_ptr<Server>> make(const config::Config& config,
                                                const Surroundings& around);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Serves on `inherited` listening sockets, or binds where that is empty; returns the port.
    /// There may be more sockets than threads and the other way about. Backends need not be
    /// reachable yet. What was taken before is served.
    Result<std::uint16_t> start(std::vector<net::Descriptor> inherited);

    /// What take() brings into force: certificate and key are read again. Nothing has changed yet.
    /// Error: InvalidConfiguration, with the reason.
    Result<std::shared_ptr<const Settings>> prepare(config::Config config) const;
    /// Each worker has it from its next event on. Options that need a restart must be as they are.
    void take(const std::shared_ptr<const Settings>& settings);

    /// Descriptors of all listening sockets, for another process. Error: Io.
    Result<std::vector<net::Descriptor>> listening_sockets() const;

    /// Not ready at once; without a successor accepts for timeouts.drain_settle more and then all
    /// that is queued; then closes listeners and idle connections, lets running answers finish
    /// (with `Connection: close`) and returns, at the latest after timeouts.drain_grace. stop()
    /// from another thread ends it early.
    void drain(Successor successor);
    /// Ends everything now: open answers are cut, visibly. Idempotent.
    void stop();

    /// What would be decided now; sends nothing and changes nothing. Errors: BadRequest,
    /// ServerControl, ModelForbidden.
    Result<Explanation> explain(const HypotheticalRequest& request) const;

    /// Has a usable backend and is not draining.
    bool is_ready() const;
    bool is_draining() const;
    std::uint32_t open_connections() const;

  private:
    class Plane;
    Server(const config::Config& config, const Surroundings& around);
    std::unique_ptr<Plane> plane_;
};

}  // namespace prefix_router::proxy
