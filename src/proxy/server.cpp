#include "prefix_router/proxy/server.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <prometheus/gauge.h>
#include <spdlog/spdlog.h>

#include "prefix_router/base/random.hpp"
#include "prefix_router/net/listener.hpp"

#include "proxy/client_connection.hpp"
#include "proxy/control.hpp"
#include "proxy/explainer.hpp"
#include "proxy/services.hpp"
#include "proxy/worker_context.hpp"

namespace prefix_router::proxy {
namespace {

using std::chrono::milliseconds;

/// How often a drain looks whether everything has ended.
constexpr milliseconds kDrainPoll{20};

prompt::RequestReaderOptions reader_options(const config::Config& config) {
    prompt::RequestReaderOptions options;
    options.hash_seed = config.routing.hash_seed.value_or(seed_from_system());
    // Only this strategy looks at it, and it costs a pass over the text.
    const bool needs_prefix = config.routing.strategy == config::Strategy::PrefixAware;
    options.fixed_prefix_length = needs_prefix ? config.routing.prefix_length : 0;
    return options;
}

}  // namespace

/// One worker thread with its listeners.
struct Lane {
    Lane(Services& services, const prompt::RequestReaderOptions& options, std::uint64_t seed)
        : context(services, options, seed) {}

    WorkerContext context;
    std::vector<std::unique_ptr<net::Listener>> listeners;  // on the worker's thread once it runs
    std::thread thread;
};

class Server::Plane {
  public:
    Plane(const config::Config& config, const Surroundings& around)
        : services(config, around),
          options(reader_options(config)),
          explainer(services, options),
          control(services) {}
    ~Plane() { stop(); }
    Plane(const Plane&) = delete;
    Plane& operator=(const Plane&) = delete;

    Result<std::uint16_t> start(std::vector<net::Descriptor> inherited);
    Result<std::vector<net::Descriptor>> listening_sockets();
    void drain(Successor successor);
    void stop();
    Result<std::shared_ptr<const Settings>> prepare(config::Config config) const;
    void take(const std::shared_ptr<const Settings>& settings);

    Services services;
    const prompt::RequestReaderOptions options;  // of every reader: keys must be the same
    Explainer explainer;

  private:
    void make_lanes(const config::Config& config);
    Result<void> listen();
    void close_listeners(Successor successor);
    void close_listeners(Lane& lane, Successor successor);
    void signal_all(net::Events events);
    bool wait_until_idle(milliseconds limit);

    Control control;
    std::vector<std::unique_ptr<Lane>> lanes_;
    std::atomic<std::size_t> listening_{0};  // lanes whose listeners are open
    std::mutex mutex_;
    std::vector<net::Descriptor> sockets_;  // every listener has another descriptor of one
    std::condition_variable stopped_;
    bool is_started_ = false;
    bool is_stopping_ = false;
};

Result<std::uint16_t> Server::Plane::start(std::vector<net::Descriptor> inherited) {
    static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
    const auto settings = services.settings.load();  // listen and threads: no reload changes them
    const config::Config& config = settings->config;
    sockets_ = std::move(inherited);
    if (sockets_.empty()) {
        auto opened = net::open_listening_sockets(config.listen, thread_count(config));
        if (!opened) {
            return opened.error();
        }
        sockets_ = std::move(*opened);
    }
    const auto endpoint = net::bound_endpoint(sockets_.front());
    if (!endpoint) {
        return endpoint.error();
    }
    make_lanes(config);
    if (const auto listening = listen(); !listening) {
        return listening.error();
    }
    {
        const std::lock_guard lock(mutex_);
        is_started_ = true;  // from here on a stop has threads to end, also when one cannot start
        for (auto& lane : lanes_) {
            lane->context.take(services.settings.load());  // a reload may have come in between
        }
    }
    control.start();
    for (auto& lane : lanes_) {
        lane->thread = std::thread([&worker = lane->context.worker] { worker.run(); });
    }
    return endpoint->port();
}

Result<std::shared_ptr<const Settings>> Server::Plane::prepare(config::Config config) const {
    const auto present = services.settings.load();
    ApiKeys keys(config, services.metrics, &present->api_keys);
    std::shared_ptr<const net::TlsServer> tls;
    if (config.tls.certificate) {
        auto loaded = net::TlsServer::load(config.tls);
        if (!loaded) {
            return loaded.error();
        }
        tls = std::move(*loaded);
    }
    return std::make_shared<const Settings>(
        Settings{std::move(config), std::move(keys), std::move(tls)});
}

/// Connections from here on get what the files hold now; those that are open go on.
void Server::Plane::take(const std::shared_ptr<const Settings>& settings) {
    std::chrono::seconds expiry{0};
    if (settings->tls) {
        if (settings->tls->expiry() < std::chrono::system_clock::now()) {
            spdlog::warn("tls.certificate: {} has expired; clients will refuse it",
                         settings->config.tls.certificate.value_or(""));
        }
        expiry = std::chrono::duration_cast<std::chrono::seconds>(
            settings->tls->expiry().time_since_epoch());
    }
    services.metrics.certificate_expiry.Set(static_cast<double>(expiry.count()));
    services.take(settings);
    services.desk.reconfigure(settings->config);
    const std::lock_guard lock(mutex_);
    if (!is_started_ || is_stopping_) {
        return;
    }
    for (auto& lane : lanes_) {
        lane->context.worker.post([&lane = *lane, settings] { lane.context.take(settings); });
    }
}

void Server::Plane::make_lanes(const config::Config& config) {
    Random seeds(seed_from_system());
    for (std::size_t i = 0; i < thread_count(config); ++i) {
        Lane& lane = *lanes_.emplace_back(std::make_unique<Lane>(services, options, seeds()));
        lane.context.worker.at_stop([this, &lane] {
            close_listeners(lane, Successor::Accepts);
            lane.context.signal_all(kStopped);
        });
    }
}

/// Every lane gets a socket and every socket a lane: where there are fewer sockets than lanes they
/// are shared, where there are more a lane has several. None is added and none is left out: closing
/// one resets what is queued on it.
Result<void> Server::Plane::listen() {
    for (std::size_t i = 0; i < std::max(lanes_.size(), sockets_.size()); ++i) {
        auto socket = sockets_[i % sockets_.size()].duplicate();
        if (!socket) {
            return socket.error();
        }
        Lane& lane = *lanes_[i % lanes_.size()];
        WorkerContext& context = lane.context;
        lane.listeners.push_back(std::make_unique<net::Listener>(
            context.worker, std::move(*socket), services.connections,
            [&context](net::Stream stream, const net::Endpoint& peer) {
                context.worker.spawn(ClientConnection::serve(context, std::move(stream), peer));
            }));
    }
    listening_.store(lanes_.size());
    return boost::system::in_place_value;
}

Result<std::vector<net::Descriptor>> Server::Plane::listening_sockets() {
    const std::lock_guard lock(mutex_);
    std::vector<net::Descriptor> copies;
    for (const auto& socket : sockets_) {
        auto copy = socket.duplicate();
        if (!copy) {
            return copy.error();
        }
        copies.push_back(std::move(*copy));
    }
    return copies;
}

void Server::Plane::drain(Successor successor) {
    services.is_draining.store(true);
    const config::Timeouts timeouts = services.settings.load()->config.timeouts;
    const auto settle = successor == Successor::None ? timeouts.drain_settle : milliseconds(0);
    spdlog::info("draining: not ready, answers under way may take {} ms more",
                 (settle + timeouts.drain_grace).count());
    {
        std::unique_lock lock(mutex_);
        stopped_.wait_for(lock, settle, [this] { return is_stopping_; });
    }
    close_listeners(successor);
    signal_all(kDraining);
    wait_until_idle(timeouts.drain_grace);
}

void Server::Plane::stop() {
    {
        const std::lock_guard lock(mutex_);
        if (std::exchange(is_stopping_, true)) {
            return;
        }
    }
    stopped_.notify_all();
    services.is_draining.store(true);
    if (!is_started_) {
        return;
    }
    control.stop();
    {
        const std::lock_guard lock(mutex_);
        sockets_.clear();
    }
    for (auto& lane : lanes_) {
        lane->context.worker.stop();
    }
    for (auto& lane : lanes_) {
        if (lane->thread.joinable()) {
            lane->thread.join();
        }
    }
}

void Server::Plane::close_listeners(Successor successor) {
    {
        const std::lock_guard lock(mutex_);
        sockets_.clear();
    }
    for (auto& lane : lanes_) {
        lane->context.worker.post(
            [this, &lane = *lane, successor] { close_listeners(lane, successor); });
    }
}

/// On the lane's thread.
void Server::Plane::close_listeners(Lane& lane, Successor successor) {
    if (lane.listeners.empty()) {
        return;
    }
    if (successor == Successor::None) {
        for (auto& listener : lane.listeners) {
            listener->accept_queued();
        }
    }
    lane.listeners.clear();
    listening_.fetch_sub(1);
}

void Server::Plane::signal_all(net::Events events) {
    for (auto& lane : lanes_) {
        lane->context.worker.post([&lane = *lane, events] { lane.context.signal_all(events); });
    }
}

/// True when every listener and every client connection has ended within `limit` and nobody stopped
/// the server.
bool Server::Plane::wait_until_idle(milliseconds limit) {
    std::unique_lock lock(mutex_);
    for (milliseconds waited{0}; waited < limit; waited += kDrainPoll) {
        if (listening_.load() == 0 && services.connections.open.load() == 0) {
            return true;
        }
        if (stopped_.wait_for(lock, kDrainPoll, [this] { return is_stopping_; })) {
            return false;
        }
    }
    return false;
}

Server::Server(const config::Config& config, const Surroundings& around)
    : plane_(std::make_unique<Plane>(config, around)) {}

Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::make(const config::Config& config,
                                             const Surroundings& around) {
    std::unique_ptr<Server> server(new Server(config, around));
    const auto settings = server->prepare(config);
    if (!settings) {
        return settings.error();
    }
    server->take(*settings);
    return server;
}

Result<std::uint16_t> Server::start(std::vector<net::Descriptor> inherited) {
    return plane_->start(std::move(inherited));
}
Result<std::shared_ptr<const Settings>> Server::prepare(config::Config config) const {
    return plane_->prepare(std::move(config));
}
void Server::take(const std::shared_ptr<const Settings>& settings) {
    plane_->take(settings);
}
Result<Explanation> Server::explain(const HypotheticalRequest& request) const {
    return plane_->explainer.explain(request);
}
Result<std::vector<net::Descriptor>> Server::listening_sockets() const {
    return plane_->listening_sockets();
}
void Server::drain(Successor successor) {
    plane_->drain(successor);
}
void Server::stop() {
    plane_->stop();
}

bool Server::is_ready() const {
    return !is_draining() && plane_->services.desk.has_usable_backend();
}

bool Server::is_draining() const {
    return plane_->services.is_draining.load();
}

std::uint32_t Server::open_connections() const {
    return plane_->services.connections.open.load();
}

}  // namespace prefix_router::proxy
