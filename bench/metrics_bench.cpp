// What one update of a metric costs, alone and with another thread at the same series
// (docs/adr/0001-metrics-library.md).

#include <array>

#include <benchmark/benchmark.h>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>

#include "prefix_router/metrics/metrics.hpp"

namespace {

using prefix_router::metrics::Registry;

Registry& registry() {
    static Registry made;
    return made;
}

void increment_counter(benchmark::State& state) {
    auto& counter = registry().counter("counter_total", "Benchmark.");
    for (auto unused : state) {
        counter.Increment();
    }
}

void move_gauge(benchmark::State& state) {
    auto& gauge = registry().gauge("gauge", "Benchmark.");
    for (auto unused : state) {
        gauge.Increment();
    }
}

void observe_histogram(benchmark::State& state) {
    constexpr std::array kValues{0.004, 0.03, 0.2, 1.7, 9.0, 100.0, 599.0, 1000.0};
    auto& histogram = registry().histogram("histogram_seconds", "Benchmark.",
                                           prefix_router::metrics::latency_buckets());
    std::size_t next = 0;
    for (auto unused : state) {
        histogram.Observe(kValues[next++ % kValues.size()]);
    }
}

void expose_fleet(benchmark::State& state) {
    Registry fleet;
    for (int backend = 0; backend < state.range(0); ++backend) {
        const Registry::Labels labels{{"backend", std::to_string(backend)}};
        fleet.counter("requests_total", "Requests.", labels).Increment();
        fleet.gauge("in_flight", "In flight.", labels).Set(1);
        fleet.histogram("ttft_seconds", "TTFT.", prefix_router::metrics::latency_buckets(), labels)
            .Observe(1);
    }
    for (auto unused : state) {
        benchmark::DoNotOptimize(fleet.exposition());
    }
}

BENCHMARK(increment_counter)->Threads(1)->Threads(2);
BENCHMARK(move_gauge)->Threads(1)->Threads(2);
BENCHMARK(observe_histogram)->Threads(1)->Threads(2);
BENCHMARK(expose_fleet)->Arg(8)->Arg(200)->Unit(benchmark::kMicrosecond);

}  // namespace
