#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "prefix_router/base/random.hpp"
#include "prefix_router/net/ticker.hpp"
#include "prefix_router/net/worker.hpp"
#include "prefix_router/prompt/request_reader.hpp"

#include "proxy/backend_connections.hpp"
#include "proxy/services.hpp"

namespace prefix_router::proxy {

class ClientConnection;
class Exchange;

/// Everything that one worker's connections share: no locks, used on the worker's thread only,
/// except wake_held().
class WorkerContext final : public net::Ticked {
  public:
    WorkerContext(Services& services, const prompt::RequestReaderOptions& reader_options,
                  std::uint64_t seed);
    ~WorkerContext() override;

    Services& services;
    std::shared_ptr<const Settings> settings;  ///< in force here
    net::Worker worker;
    prompt::RequestReader reader;
    Random random;
    BackendConnections connections;

    const config::Config& config() const { return settings->config; }
    /// On the worker's thread: from now on these are in force here.
    void take(std::shared_ptr<const Settings> next);

    /// An Exchange costs several strings and vectors: a few are kept from request to request.
    std::unique_ptr<Exchange> take_exchange();
    void give_back(std::unique_ptr<Exchange> exchange);

    void connection_opened(ClientConnection& connection);
    void connection_closed(ClientConnection& connection);
    /// Signals every client connection.
    void signal_all(net::Events events);

    // Requests held by the routing, by number: a wake-up that comes too late finds nothing.
    void hold(std::uint64_t request, Exchange& exchange);
    void unhold(std::uint64_t request);
    /// From any thread.
    void wake_held(std::uint64_t request) noexcept;

    /// True once per tick: for warnings that clients cause.
    bool may_complain();

    /// Appends to the access log, which is enabled; the lines leave in batches.
    void log(const RequestRecord& record);
    void on_tick(net::Tick now) override;

  private:
    void heed_shortage();
    void wake_all_held();
    void flush_log();
    void publish_spare_buffers();

    std::vector<std::unique_ptr<Exchange>> spare_;
    std::vector<ClientConnection*> open_;
    std::unordered_map<std::uint64_t, Exchange*> held_;
    std::atomic<bool> has_lost_wakeup_{false};  // without memory for it: all look at the next tick
    std::string lines_;
    std::string time_text_;  // refreshed per tick
    std::optional<net::Tick> last_complaint_;
    double published_spare_ = 0;
    std::uint32_t heeded_shortages_ = 0;
};

}  // namespace prefix_router::proxy
