#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "prefix_router/base/error.hpp"
#include "prefix_router/config/config.hpp"
#include "prefix_router/metrics/metrics.hpp"
#include "prefix_router/routing/decision.hpp"

namespace prefix_router::proxy {

/// The series of one backend; they vanish from the exposition with the last reference to them.
struct BackendMetrics {
    prometheus::Counter& requests;  ///< requests sent there
    prometheus::Counter& failures;  ///< requests that broke there, tried again elsewhere or not
    prometheus::Counter& refusals;  ///< 429 and 503 answers, passed on or not
    prometheus::Counter& probe_failures;
    prometheus::Gauge& in_flight;        ///< sequences, as the routing counts them
    prometheus::Gauge& most_in_flight;   ///< requests, 0: no limit
    prometheus::Gauge& healthy;          ///< 1 usable, 0 not
    prometheus::Gauge& backlog_seconds;  ///< believed prefill backlog
    prometheus::Gauge& capacity_tokens;
    prometheus::Gauge& resident_tokens;
    prometheus::Gauge& prefill_rate;      ///< learned, tokens per second at position 0
    prometheus::Gauge& prefill_overhead;  ///< learned, seconds
    prometheus::Gauge& lanes;
    prometheus::Gauge& work;     ///< prefill sent there, seconds per second
    prometheus::Gauge& foreign;  ///< requests there that did not come through this router
    prometheus::Gauge& running;  ///< as the engine reports it
    prometheus::Gauge& waiting;
    prometheus::Counter& reported_prompt_tokens;  ///< of answers that report cached tokens
    prometheus::Counter& reported_cached_tokens;
    prometheus::Counter& missing_cached_tokens;     ///< expected and not reported
    prometheus::Counter& unexpected_cached_tokens;  ///< reported and not expected
    prometheus::Counter& saved_prefill_seconds;
};

/// The series of one API key; they vanish with the last reference to them.
struct KeyMetrics {
    prometheus::Counter& requests;
    prometheus::Counter& rate_limited;
};

/// Everything that the data plane counts, created once and passed by reference. Labels come from
/// enums, backend ids and names of configured API keys only. Thread-safe.
class Metrics {
  public:
    static constexpr std::size_t kStatusClasses = 6;  ///< by hundreds; 0: no answer was given
    static constexpr std::size_t kErrorKinds = 38;

    explicit Metrics(metrics::Registry& registry);
    ~Metrics();
    Metrics(const Metrics&) = delete;
    Metrics& operator=(const Metrics&) = delete;

    prometheus::Counter& answers(unsigned status);
    prometheus::Counter& errors(ErrorKind kind);
    prometheus::Counter& decisions(routing::Reason reason);
    /// Requests waiting in the router's queue, and how long those that waited did.
    prometheus::Gauge& held(config::Priority priority);
    prometheus::Histogram& held_seconds(config::Priority priority);
    /// One set for each id, whoever holds it. All are let go before this object.
    std::shared_ptr<BackendMetrics> backend(const std::string& id, const std::string& url);
    std::shared_ptr<KeyMetrics> api_key(const std::string& name);

    prometheus::Gauge& in_flight;        ///< requests read and not yet answered, held ones included
    prometheus::Gauge& held_bytes;       ///< bodies of requests waiting in the router's queue
    prometheus::Counter& prompt_tokens;  ///< estimated, of all routed requests
    prometheus::Counter& expected_cached_tokens;  ///< believed at the decision
    prometheus::Counter& reported_prompt_tokens;  ///< by engines that report cached tokens
    prometheus::Counter& reported_cached_tokens;
    prometheus::Histogram& cached_tokens_error;  ///< between expected and reported, per answer
    prometheus::Histogram& first_token_seconds;
    prometheus::Histogram& duration_seconds;
    prometheus::Histogram& decision_seconds;
    prometheus::Counter& retries_stale;      ///< a pooled connection was dead
    prometheus::Counter& retries_failed;     ///< connect failures, tried elsewhere
    prometheus::Counter& retries_refused;    ///< 429 and 503, tried elsewhere
    prometheus::Counter& retries_exhausted;  ///< wanted, but over the budget
    prometheus::Counter& client_aborts;
    prometheus::Counter& error_events;  ///< answers whole in HTTP that carried an error event
    prometheus::Counter& connects;      ///< connections opened to backends
    prometheus::Counter& connections_accepted;
    prometheus::Counter& connections_over_share;  ///< beyond limits.connections_per_address
    prometheus::Counter& handshakes_new;          ///< TLS, with clients
    prometheus::Counter& handshakes_resumed;
    prometheus::Gauge& certificate_expiry;  ///< seconds since 1970; 0: no TLS
    prometheus::Gauge& connections;         ///< open client connections
    prometheus::Gauge& buffered_bytes;
    prometheus::Gauge& spare_buffer_bytes;
    prometheus::Gauge& map_entries;
    prometheus::Gauge& map_bytes;
    prometheus::Counter& lock_wait_seconds;  ///< all threads' waiting for the routing state
    prometheus::Gauge& busiest_share;        ///< of the prefill sent lately, the busiest backend's
    prometheus::Gauge& usable_backends;
    prometheus::Gauge& panic;  ///< 1 while no backend is usable and requests are sent anyway
    prometheus::Counter& access_log_dropped;

  private:
    metrics::Registry& registry_;
    std::array<prometheus::Counter*, kStatusClasses> answers_{};
    std::array<prometheus::Counter*, kErrorKinds> errors_{};
    std::array<prometheus::Counter*, routing::kReasonCount> decisions_{};
    std::array<prometheus::Gauge*, config::kPriorities> held_{};
    std::array<prometheus::Histogram*, config::kPriorities> held_seconds_{};
    BackendMetrics make_backend(const std::string& id);
    void forget_backend(const std::string& id);
    void forget_api_key(const std::string& name);

    struct KnownBackend {
        std::weak_ptr<BackendMetrics> series;
        prometheus::Gauge* info = nullptr;  // of its URL, which may change
    };

    std::mutex owners_mutex_;
    std::unordered_map<std::string, KnownBackend> backends_;
    std::unordered_map<std::string, std::weak_ptr<KeyMetrics>> keys_;
};

}  // namespace prefix_router::proxy
