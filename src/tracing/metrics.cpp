#include "prefix_router/tracing/metrics.hpp"

namespace prefix_router::tracing {
namespace {

prometheus::Counter& dropped(metrics::Registry& registry, const char* cause) {
    return registry.counter("tracing_dropped_spans_total", "Spans that reached no collector",
                            {{"cause", cause}});
}

}  // namespace

Metrics::Metrics(metrics::Registry& registry)
    : exported(registry.counter("tracing_exported_spans_total", "Spans that a collector took")),
      dropped_queue_full(dropped(registry, "queue_full")),
      dropped_refused(dropped(registry, "spans_refused")),
      dropped_undelivered(dropped(registry, "undelivered")),
      queued(registry.gauge("tracing_queued_spans", "Spans waiting for the collector")) {}

}  // namespace prefix_router::tracing
