#include "prefix_router/proxy/metrics.hpp"

#include <array>
#include <string>
#include <utility>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>

namespace prefix_router::proxy {
namespace {

using metrics::Registry;

constexpr std::array kTokenErrorBuckets{0.0, 16.0, 64.0, 256.0, 1024.0, 4096.0, 16384.0, 65536.0};
constexpr const char* kRetriesHelp = "Attempts repeated, by cause";

prometheus::Counter& retries(Registry& registry, const char* cause) {
    return registry.counter("retries_total", kRetriesHelp, {{"cause", cause}});
}

std::string status_class(std::size_t hundreds) {
    return hundreds == 0 ? "none" : std::to_string(hundreds) + "xx";
}

}  // namespace

Metrics::Metrics(Registry& registry)
    : in_flight(registry.gauge("requests_in_flight",
                               "Requests read and not yet answered, held ones included")),
      held_bytes(
          registry.gauge("held_bytes", "Bodies of requests waiting in the router's queue, bytes")),
      prompt_tokens(
          registry.counter("prompt_tokens_total", "Estimated prompt tokens of routed requests")),
      expected_cached_tokens(registry.counter(
          "expected_cached_tokens_total", "Prompt tokens believed cached when they were routed")),
      reported_prompt_tokens(registry.counter(
          "reported_prompt_tokens_total", "Prompt tokens of answers that report cached tokens")),
      reported_cached_tokens(registry.counter("reported_cached_tokens_total",
                                              "Cached tokens as reported by the engines")),
      cached_tokens_error(registry.histogram("cached_tokens_error",
                                             "Difference between cached tokens expected and "
                                             "reported, per answer that reports them",
                                             kTokenErrorBuckets)),
      first_token_seconds(registry.histogram(
          "time_to_first_token_seconds",
          "From the request's last body byte to the answer's first token, held time included",
          metrics::latency_buckets())),
      duration_seconds(registry.histogram("request_duration_seconds",
                                          "From the request's first byte to the answer's last",
                                          metrics::latency_buckets())),
      decision_seconds(registry.histogram("decision_seconds", "Time taken to choose a backend",
                                          metrics::decision_buckets())),
      retries_stale(retries(registry, "stale_connection")),
      retries_failed(retries(registry, "connect_failed")),
      retries_refused(retries(registry, "refused")),
      retries_exhausted(
          registry.counter("retries_over_budget_total", "Retries not made: the budget was spent")),
      client_aborts(registry.counter("client_aborts_total",
                                     "Requests whose client left before the answer was complete")),
      error_events(registry.counter("error_events_total",
                                    "Answers whole in HTTP that carried an error event")),
      connects(registry.counter("backend_connects_total", "Connections opened to backends")),
      connections_accepted(
          registry.counter("connections_accepted_total", "Client connections accepted")),
      connections_over_share(
          registry.counter("connections_over_address_limit_total",
                           "Client connections closed at once: limits.connections_per_address")),
      handshakes_new(registry.counter("tls_handshakes_total", "TLS handshakes with clients",
                                      {{"session", "new"}})),
      handshakes_resumed(registry.counter("tls_handshakes_total", "TLS handshakes with clients",
                                          {{"session", "resumed"}})),
      certificate_expiry(registry.gauge("tls_certificate_expiry_timestamp_seconds",
                                        "When the certificate expires, seconds since 1970")),
      connections(registry.gauge("connections", "Open client connections")),
      buffered_bytes(registry.gauge("buffered_bytes", "Request bodies in memory, bytes")),
      spare_buffer_bytes(
          registry.gauge("spare_buffer_bytes", "Buffers kept for the next request bodies, bytes")),
      map_entries(registry.gauge("prefix_map_blocks", "Block copies in the prefix map")),
      map_bytes(registry.gauge("prefix_map_bytes", "Memory of the prefix map, bytes")),
      lock_wait_seconds(registry.counter("routing_lock_wait_seconds_total",
                                         "Time that threads waited for the routing state")),
      busiest_share(registry.gauge(
          "busiest_backend_share",
          "Share of the prefill work sent in the last minute that went to the busiest backend")),
      usable_backends(registry.gauge("usable_backends",
                                     "Backends that get requests: healthy and not draining")),
      panic(registry.gauge("panic", "1 while no backend is usable and requests are sent anyway")),
      access_log_dropped(registry.counter("access_log_dropped_lines_total",
                                          "Access log lines dropped: the sink is too slow")),
      registry_(registry) {
    for (std::size_t i = 0; i < kStatusClasses; ++i) {
        answers_[i] = &registry.counter("requests_total", "Requests, by class of the answer",
                                        {{"status", status_class(i)}});
    }
    for (std::size_t i = 0; i < kErrorKinds; ++i) {
        const auto kind = static_cast<ErrorKind>(i);
        errors_[i] = &registry.counter("errors_total", "Requests that failed, by kind",
                                       {{"kind", std::string(to_string(kind))}});
    }
    for (std::size_t i = 0; i < routing::kReasonCount; ++i) {
        const auto reason = static_cast<routing::Reason>(i);
        decisions_[i] = &registry.counter("decisions_total", "Requests sent, by reason",
                                          {{"reason", std::string(routing::to_string(reason))}});
    }
    for (std::size_t i = 0; i < config::kPriorities; ++i) {
        const Registry::Labels labels{
            {"priority", std::string(config::to_string(static_cast<config::Priority>(i)))}};
        held_[i] =
            &registry.gauge("requests_held", "Requests waiting in the router's queue", labels);
        held_seconds_[i] =
            &registry.histogram("held_seconds", "Time that requests waited in the router's queue",
                                metrics::latency_buckets(), labels);
    }
}

Metrics::~Metrics() = default;

prometheus::Counter& Metrics::answers(unsigned status) {
    const std::size_t hundreds = status / 100;
    return *answers_[hundreds < kStatusClasses ? hundreds : 0];
}

prometheus::Counter& Metrics::errors(ErrorKind kind) {
    return *errors_[static_cast<std::size_t>(kind)];
}

prometheus::Counter& Metrics::decisions(routing::Reason reason) {
    return *decisions_[static_cast<std::size_t>(reason)];
}

prometheus::Gauge& Metrics::held(config::Priority priority) {
    return *held_[static_cast<std::size_t>(priority)];
}

prometheus::Histogram& Metrics::held_seconds(config::Priority priority) {
    return *held_seconds_[static_cast<std::size_t>(priority)];
}

std::shared_ptr<KeyMetrics> Metrics::api_key(const std::string& name) {
    const std::lock_guard lock(owners_mutex_);
    auto& known = keys_[name];
    if (auto made = known.lock()) {
        return made;
    }
    const Registry::Labels label{{"key", name}};
    const std::shared_ptr<KeyMetrics> made(
        new KeyMetrics{
            registry_.counter("api_key_requests_total", "Requests of each API key", label),
            registry_.counter("api_key_rate_limited_total", "Requests over the key's rate", label)},
        [this, name](KeyMetrics* series) {
            forget_api_key(name);
            delete series;
        });
    known = made;
    return made;
}

std::shared_ptr<BackendMetrics> Metrics::backend(const std::string& id, const std::string& url) {
    const std::lock_guard lock(owners_mutex_);
    KnownBackend& known = backends_[id];
    if (known.info != nullptr) {
        // The id moves to another URL while answers of its former one still end.
        registry_.remove_backend_series(*known.info);
    }
    known.info = &registry_.gauge("backend_info", "1 for each backend, with its URL",
                                  {{"backend", id}, {"url", url}});
    known.info->Set(1);
    if (auto made = known.series.lock()) {
        return made;
    }
    const std::shared_ptr<BackendMetrics> made(new BackendMetrics(make_backend(id)),
                                               [this, id](BackendMetrics* series) {
                                                   forget_backend(id);
                                                   delete series;
                                               });
    known.series = made;
    return made;
}

BackendMetrics Metrics::make_backend(const std::string& id) {
    const Registry::Labels labels{{"backend", id}};
    return {
        registry_.counter("backend_requests_total", "Requests sent to the backend", labels),
        registry_.counter("backend_failures_total", "Requests that broke at the backend", labels),
        registry_.counter("backend_refusals_total", "Answers 429 and 503", labels),
        registry_.counter("backend_probe_failures_total", "Failed health probes", labels),
        registry_.gauge("backend_in_flight", "Sequences sent and not ended", labels),
        registry_.gauge("backend_max_in_flight",
                        "Requests that it gets at a time at most; 0 where there is no limit",
                        labels),
        registry_.gauge("backend_healthy", "1 when the backend is usable", labels),
        registry_.gauge("backend_backlog_seconds", "Prefill backlog believed there", labels),
        registry_.gauge("backend_capacity_tokens", "KV-cache capacity believed, tokens", labels),
        registry_.gauge("backend_resident_tokens", "Tokens believed cached", labels),
        registry_.gauge("backend_prefill_tokens_per_second",
                        "Prefill rate learned, at the start of a prompt", labels),
        registry_.gauge("backend_prefill_overhead_seconds",
                        "Time to first token beyond the prefill, learned", labels),
        registry_.gauge("backend_lanes", "Prefills believed to be computed side by side", labels),
        registry_.gauge("backend_prefill_utilization",
                        "Expected prefill sent in the last minute, seconds per second", labels),
        registry_.gauge("backend_foreign_requests",
                        "Requests there that did not come through this router", labels),
        registry_.gauge("backend_running", "Requests running, as the engine reports", labels),
        registry_.gauge("backend_waiting", "Requests waiting, as the engine reports", labels),
        registry_.counter("backend_reported_prompt_tokens_total",
                          "Prompt tokens of its answers that report cached tokens", labels),
        registry_.counter("backend_reported_cached_tokens_total", "Cached tokens it reported",
                          labels),
        registry_.counter("backend_missing_cached_tokens_total",
                          "Cached tokens expected there and not reported", labels),
        registry_.counter("backend_unexpected_cached_tokens_total",
                          "Cached tokens reported and not expected there", labels),
        registry_.counter("backend_saved_prefill_seconds_total",
                          "Prefill that reported cached tokens saved, at the rates learned",
                          labels)};
}

/// Unless somebody asked for the same series again just before.
void Metrics::forget_backend(const std::string& id) {
    const std::lock_guard lock(owners_mutex_);
    const auto found = backends_.find(id);
    if (found != backends_.end() && found->second.series.expired()) {
        backends_.erase(found);
        registry_.remove_backend(id);
    }
}

void Metrics::forget_api_key(const std::string& name) {
    const std::lock_guard lock(owners_mutex_);
    const auto found = keys_.find(name);
    if (found != keys_.end() && found->second.expired()) {
        keys_.erase(found);
        registry_.remove_api_key(name);
    }
}

}  // namespace prefix_router::proxy
