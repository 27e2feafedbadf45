#include "prefix_router/proxy/server.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
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
#include "proxy/services.hpp"
#include "proxy/worker_context.hpp"

namespace prefix_router::proxy {
namespace {

using std::chrono::milliseconds;

/// How often a drain looks whether everything has ended.
constexpr milliseconds kDrainPoll{20};

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
    Plane(config::Config config, const Surroundings& around)
        : services(std::move(config), around), control(services) {}
    ~Plane() { stop(); }
    Plane(const Plane&) = delete;
    Plane& operator=(const Plane&) = delete;

    Result<std::uint16_t> start(std::vector<net::Descriptor> inherited);
    Result<std::vector<net::Descriptor>> listening_sockets();
    void drain(Successor successor);
    void stop();
    Result<void> load_certificate();

    Services services;

  private:
    void make_lanes();
    Result<void> listen();
    void close_listeners(Successor successor);
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
    if (auto loaded = load_certificate(); !loaded) {
        return loaded.error();
    }
    sockets_ = std::move(inherited);
    if (sockets_.empty()) {
        auto opened =
            net::open_listening_sockets(services.config.listen, thread_count(services.config));
        if (!opened) {
            return opened.error();
        }
        sockets_ = std::move(*opened);
    }
    const auto endpoint = net::bound_endpoint(sockets_.front());
    if (!endpoint) {
        return endpoint.error();
    }
    make_lanes();
    if (const auto listening = listen(); !listening) {
        return listening.error();
    }
    is_started_ = true;  // from here on a stop has threads to end, also when one cannot be started
    control.start();
    for (auto& lane : lanes_) {
        lane->thread = std::thread([&worker = lane->context.worker] { worker.run(); });
    }
    return endpoint->port();
}

/// Connections from here on get what the files hold now; those that are open go on.
Result<void> Server::Plane::load_certificate() {
    if (!services.config.tls.certificate) {
        return {};
    }
    auto loaded = net::TlsServer::load(services.config.tls);
    if (!loaded) {
        return loaded.error();
    }
    const auto expiry = (*loaded)->expiry();
    if (expiry < std::chrono::system_clock::now()) {
        spdlog::warn("tls.certificate: {} has expired; clients will refuse it",
                     *services.config.tls.certificate);
    }
    const auto since = std::chrono::duration_cast<std::chrono::seconds>(expiry.time_since_epoch());
    services.metrics.certificate_expiry.Set(static_cast<double>(since.count()));
    services.tls.store(std::move(*loaded));
    return {};
}

void Server::Plane::make_lanes() {
    prompt::RequestReaderOptions options;
    options.hash_seed = services.config.routing.hash_seed.value_or(seed_from_system());
    // Only this strategy looks at it, and it costs a pass over the text.
    const bool needs_prefix = services.config.routing.strategy == config::Strategy::PrefixAware;
    options.fixed_prefix_length = needs_prefix ? services.config.routing.prefix_length : 0;
    Random seeds(seed_from_system());
    for (std::size_t i = 0; i < thread_count(services.config); ++i) {
        lanes_.push_back(std::make_unique<Lane>(services, options, seeds()));
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
    const auto& timeouts = services.config.timeouts;
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
    close_listeners(Successor::Accepts);
    signal_all(kStopped);
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
        lane->context.worker.post([this, &lane = *lane, successor] {
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
        });
    }
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

Server::Server(config::Config config, const Surroundings& around)
    : plane_(std::make_unique<Plane>(std::move(config), around)) {}

Server::~Server() = default;

Result<std::uint16_t> Server::start(std::vector<net::Descriptor> inherited) {
    return plane_->start(std::move(inherited));
}
Result<void> Server::reload_certificate() {
    return plane_->load_certificate();
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
