#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "prefix_router/base/error.hpp"
#include "prefix_router/base/random.hpp"
#include "prefix_router/config/config.hpp"
#include "prefix_router/tracing/metrics.hpp"
#include "prefix_router/tracing/span.hpp"

namespace prefix_router::tracing {

/// Decides which requests are traced and sends their spans to a collector (OTLP over HTTP, JSON)
/// on a thread of its own. Nothing here waits for the collector but the destructor, five seconds
/// at most. Thread-safe.
class Tracer {
  public:
    /// `config.endpoint` is set. Error InvalidConfiguration: the headers cannot be read.
    static Result<std::unique_ptr<Tracer>> start(const config::Tracing& config,
                                                 const std::string& version, Metrics& metrics);
    ~Tracer();
    Tracer(const Tracer&) = delete;
    Tracer& operator=(const Tracer&) = delete;

    /// The router's own place in the trace of a request. A parent decides whether it is sampled;
    /// without one `sample_ratio` of the traces are, by their id.
    TraceContext begin(const std::optional<TraceContext>& parent, Random& random) const;

    /// Queues a sampled span, or counts it as dropped when the queue is full.
    void end(Span span);

  private:
    class Exporter;
    Tracer(double sample_ratio, std::unique_ptr<Exporter> exporter);

    std::uint64_t sampled_below_;
    bool samples_all_;
    std::unique_ptr<Exporter> exporter_;
};

}  // namespace prefix_router::tracing
