#pragma once

#include "prefix_router/metrics/metrics.hpp"

namespace prefix_router::tracing {

/// What became of spans. Thread-safe.
struct Metrics {
    explicit Metrics(metrics::Registry& registry);

    prometheus::Counter& exported;
    prometheus::Counter& dropped_queue_full;
    prometheus::Counter& dropped_refused;      ///< the collector did not want them
    prometheus::Counter& dropped_undelivered;  ///< it could not be reached, for too long
    prometheus::Gauge& queued;
};

}  // namespace prefix_router::tracing
