#include "chat_load/client_watch.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace prefix_router::chat_load {
namespace {

constexpr std::chrono::milliseconds kBeat{20};
// Above these the client's own delays show in the figures.
constexpr Seconds kTolerableLag = 0.01;
constexpr double kTolerableCpuShare = 0.85;

Seconds seconds_of(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

Seconds cpu_seconds() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

}  // namespace

ClientWatch::ClientWatch(net::io_context& io) : timer_(io.get_executor()), begun_(clock_.now()) {}

Awaitable<void> ClientWatch::run() {
    begun_ = clock_.now();
    while (!stopped_) {
        const TimePoint due = clock_.now() + kBeat;
        timer_.expires_after(kBeat);
        co_await timer_.async_wait(kAwait);
        if (!stopped_) lags_.push_back(to_seconds(clock_.now() - due));
    }
}

void ClientWatch::stop() {
    stopped_ = true;
    timer_.cancel();
}

Seconds ClientWatch::lag_p99() const {
    return quantile_of(lags_, 0.99);
}

double ClientWatch::cpu_share() const {
    const Seconds elapsed = to_seconds(clock_.now() - begun_);
    return elapsed > 0 ? cpu_seconds() / elapsed : 0;
}

bool ClientWatch::is_bottleneck() const {
    return lag_p99() > kTolerableLag || cpu_share() > kTolerableCpuShare;
}

Seconds quantile_of(std::vector<Seconds> values, double quantile) {
    if (values.empty()) return 0;
    const double rank = std::ceil(quantile * static_cast<double>(values.size()));
    const auto index = static_cast<std::size_t>(std::max(0.0, rank - 1));
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(index),
                     values.end());
    return values[index];
}

}  // namespace prefix_router::chat_load
