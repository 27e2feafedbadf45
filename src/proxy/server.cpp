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

/// One worker thread with its listener.
struct Lane {
    Lane(Services& services, const prompt::RequestReaderOptions& options, std::uint64_t seed)
        : context(services, options, seed) {}

    WorkerContext context;
    std::unique_ptr<net::Listener> listener;  // on the worker's thread once it runs
    std::thread thread;
};

class Server::Plane {
  public:
    Plane(config::Config config, const Surroundings& around)
        : services(std::move(config), around), control(services) {}
    ~Plane() { stop(); }
    Plane(const Plane&) = delete;
    Plane& operator=(const Plane&) = delete;

    Result<std::uint16_t> start();
    void drain();
    void stop();

    Services services;

  private:
    void close_listeners();
    void signal_all(net::Events events);
    bool wait_until_idle(milliseconds limit);

    Control control;
    std::vector<std::unique_ptr<Lane>> lanes_;
    std::atomic<std::size_t> listening_{0};  // lanes whose listener is open
    std::mutex mutex_;
    std::condition_variable stopped_;
    bool is_started_ = false;
    bool is_stopping_ = false;
};

Result<std::uint16_t> Server::Plane::start() {
    std::signal(SIGPIPE, SIG_IGN);
    const auto endpoint = net::claim_address(services.config.listen);
    if (!endpoint) {
        return endpoint.error();
    }
    prompt::RequestReaderOptions options;
    options.hash_seed = services.config.routing.hash_seed.value_or(seed_from_system());
    // Only this strategy looks at it, and it costs a pass over the text.
    const bool needs_prefix = services.config.routing.strategy == config::Strategy::PrefixAware;
    options.fixed_prefix_length = needs_prefix ? services.config.routing.prefix_length : 0;
    Random seeds(seed_from_system());
    for (std::size_t i = 0; i < thread_count(services.config); ++i) {
        auto lane = std::make_unique<Lane>(services, options, seeds());
        WorkerContext& context = lane->context;
        auto listener = net::Listener::open(
            context.worker, *endpoint, services.connections,
            [&context](net::Stream stream, const net::Endpoint& peer) {
                context.worker.spawn(ClientConnection::serve(context, std::move(stream), peer));
            });
        if (!listener) {
            return listener.error();
        }
        lane->listener = std::move(*listener);
        listening_.fetch_add(1);
        lanes_.push_back(std::move(lane));
    }
    control.start();
    for (auto& lane : lanes_) {
        lane->thread = std::thread([&worker = lane->context.worker] { worker.run(); });
    }
    is_started_ = true;
    return endpoint->port();
}

void Server::Plane::drain() {
    services.is_draining.store(true);
    spdlog::info(
        "draining: not ready, answers under way may take {} ms more",
        (services.config.timeouts.drain_settle + services.config.timeouts.drain_grace).count());
    {
        std::unique_lock lock(mutex_);
        stopped_.wait_for(lock, services.config.timeouts.drain_settle,
                          [this] { return is_stopping_; });
    }
    close_listeners();
    signal_all(kDraining);
    wait_until_idle(services.config.timeouts.drain_grace);
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
    close_listeners();
    signal_all(kStopped);
    for (auto& lane : lanes_) {
        lane->context.worker.stop();
    }
    for (auto& lane : lanes_) {
        lane->thread.join();
    }
}

void Server::Plane::close_listeners() {
    for (auto& lane : lanes_) {
        lane->context.worker.post([this, &lane = *lane] {
            if (std::exchange(lane.listener, nullptr)) {
                listening_.fetch_sub(1);
            }
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

Result<std::uint16_t> Server::start() {
    return plane_->start();
}
void Server::drain() {
    plane_->drain();
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
