// dataplane-load: one proxy's clients for bench/dataplane.sh. Prints one JSON object; with --single
// first the line "ready", and after it keeps its connections open until its standard input ends.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "dataplane/load.hpp"

using namespace prefix_router::dataplane;

namespace {

double quantile_us(std::vector<std::uint64_t> values, double quantile) {
    if (values.empty()) return 0;
    const auto rank =
        static_cast<std::ptrdiff_t>(quantile * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), values.begin() + rank, values.end());
    return static_cast<double>(values[static_cast<std::size_t>(rank)]) / 1000;
}

double cpu_seconds() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

nlohmann::json as_json(const LoadReport& report, double cpu) {
    return {{"requests", report.requests},
            {"errors", report.errors},
            {"first_error", report.first_error},
            {"seconds", report.seconds},
            {"events", report.delays.size()},
            {"latency_p50_us", quantile_us(report.latencies, 0.5)},
            {"latency_p99_us", quantile_us(report.latencies, 0.99)},
            {"event_delay_p50_us", quantile_us(report.delays, 0.5)},
            {"event_delay_p99_us", quantile_us(report.delays, 0.99)},
            {"lag_p99_us", quantile_us(report.lags, 0.99)},
            {"cpu_share", report.seconds > 0 ? cpu / report.seconds : 0}};
}

}  // namespace

int main(int argc, char** argv) {
    LoadOptions options;
    CLI::App app{"dataplane-load: clients that check every byte of their answers"};
    app.add_option("--port", options.port, "Port on 127.0.0.1")->required();
    app.add_option("--connections", options.connections, "Connections")
        ->check(CLI::Range(std::size_t{1}, std::size_t{100'000}));
    app.add_option("--body", options.body_bytes, "Bytes of a request's body")
        ->check(CLI::Range(std::size_t{1024}, std::size_t{64} << 20));
    app.add_option("--events", options.wish.events, "Ask for a stream of this many events");
    app.add_option("--gap-us", options.wish.gap_us, "Microseconds between two events");
    app.add_option("--seconds", options.seconds, "Seconds of load")->check(CLI::Range(0.1, 3600.0));
    app.add_option("--rate", options.rate, "Requests per second (open loop)")
        ->check(CLI::Range(0.0, 1e6));
    app.add_flag("--new-connections", options.closes, "A new connection for each request");
    app.add_flag("--single", options.is_single, "One request per connection");
    app.add_option("--models", options.models, "Ask this many models in turn")
        ->check(CLI::Range(std::size_t{0}, std::size_t{64}));
    app.add_flag("--fresh", options.is_fresh, "Send no body twice");
    app.add_option("--first-seed", options.first_seed, "Of the bodies; each is a seed's");
    CLI11_PARSE(app, argc, argv);
    options.wish.streams = options.wish.events > 0;
    Load load(options);
    const double before = cpu_seconds();
    const LoadReport report = load.run();
    const double cpu = cpu_seconds() - before;
    if (options.is_single) {
        while (std::getchar() != EOF) {
        }
    }
    std::puts(as_json(report, cpu).dump().c_str());
    return report.errors == 0 ? 0 : 1;
}
