#pragma once

#include <optional>
#include <string_view>

#include "prefix_router/net/task.hpp"
#include "prefix_router/net/worker.hpp"

#include "proxy/fetcher.hpp"
#include "proxy/scrape.hpp"
#include "proxy/services.hpp"

namespace prefix_router::proxy {

/// Watches one backend from the control thread: one loop probes its health, another scrapes its
/// load, its models and its KV capacity. Neither overlaps itself; a slow scrape delays no probe.
/// Speaks up once when something changes, never per poll.
class BackendMonitor {
  public:
    BackendMonitor(net::Worker& worker, Services& services, const BackendRef& backend,
                   const config::Health& health);
    BackendMonitor(const BackendMonitor&) = delete;
    BackendMonitor& operator=(const BackendMonitor&) = delete;
    ~BackendMonitor() = default;

    void start();
    /// Both loops end soon after; destroy it when has_ended().
    void stop();
    bool has_ended() const { return running_loops_ == 0; }
    /// One of the loops has ended by itself, or could not begin, without memory.
    bool is_broken() const { return is_broken_; }
    const BackendRef& backend() const { return prober_.backend(); }
    const config::Health& health() const { return health_; }

  private:
    class RunningLoop;
    net::Task<void> probe_forever();
    /// NotAsked: this process could not, which says nothing about the backend.
    enum class Health : unsigned char { Alive, Failing, NotAsked };
    net::Task<void> wait_for_address(std::chrono::milliseconds timeout);
    net::Task<Health> probe();
    net::Task<void> scrape_forever();
    net::Task<Result<Fetched>> ask(std::string_view path);
    net::Task<void> scrape();
    net::Task<void> take_metrics(const Fetched& answer);
    void forget_load();
    net::Task<void> scrape_models();
    net::Task<void> ask_facts();
    net::Task<void> ask_llamacpp();
    void tell_health(bool is_alive, std::string_view why);

    net::Worker& worker_;
    Services& services_;
    Fetcher prober_;
    Fetcher scraper_;
    int running_loops_ = 0;
    bool is_broken_ = false;

    const config::Health health_;
    std::chrono::milliseconds scrape_interval_;  ///< of real time
    std::string probe_path_;
    std::string probe_complaint_;
    std::optional<bool> was_alive_;

    Engine engine_ = Engine::Unknown;
    pool::ScrapedLoad load_;
    EngineFacts asked_;        // from endpoints other than /metrics
    bool needs_facts_ = true;  // at the next scrape
    bool asks_facts_ = false;  // in this one
    bool has_warned_of_capacity_ = false;
};

}  // namespace prefix_router::proxy
