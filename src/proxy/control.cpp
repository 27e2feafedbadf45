#include "proxy/control.hpp"

#include <algorithm>
#include <chrono>

#include <prometheus/gauge.h>
#include <spdlog/spdlog.h>

#include "prefix_router/sim/trace_writer.hpp"

namespace prefix_router::proxy {
namespace {

using std::chrono::milliseconds;

/// Held requests age, and may become due, without any event.
constexpr milliseconds kQueueTick{50};
/// Names are looked up again this often: a rollout moves a backend to another address.
constexpr net::Tick kLookupTicks = std::chrono::seconds(30) / net::kTickLength;
/// Recorded requests reach the trace file at the latest after this time.
constexpr net::Tick kFlushTicks = std::chrono::seconds(1) / net::kTickLength;

}  // namespace

Control::Control(Services& services) : services_(services) {}

Control::~Control() {
    stop();
}

void Control::start() {
    follow_backends();
    worker_.ticks().add(*this);
    const auto tick = from_seconds(to_seconds(kQueueTick) / services_.speed_up);
    worker_.every(std::chrono::ceil<milliseconds>(tick), [this] { services_.desk.tick(); });
    worker_.at_stop([this] {
        is_stopping_ = true;
        for (auto& [slot, monitor] : monitors_) {
            monitor->stop();
        }
    });
    thread_ = std::thread([this] { worker_.run(); });
}

void Control::stop() {
    if (!thread_.joinable()) {
        return;
    }
    worker_.stop();
    thread_.join();
    monitors_.clear();
}

/// Complains once per trouble, not once per second.
void Control::flush_trace() {
    if (services_.trace == nullptr) {
        return;
    }
    const auto flushed = services_.trace->flush();
    if (flushed.has_error() && !is_trace_failing_) {
        spdlog::error("log.trace: {}; trying on", flushed.error().message());
    }
    is_trace_failing_ = flushed.has_error();
}

void Control::on_tick(net::Tick now) {
    if (is_stopping_) {
        return;
    }
    follow_backends();
    services_.metrics.connections.Set(services_.connections.open.load());
    services_.metrics.buffered_bytes.Set(static_cast<double>(services_.memory.used()));
    if (now % kFlushTicks == 0) {
        flush_trace();
    }
    if (now % kLookupTicks == 0) {
        for (const BackendRef& backend : services_.desk.backends()) {
            backend->address.refresh();
        }
    }
}

void Control::follow_backends() {
    const auto present = services_.desk.backends();
    const auto settings = services_.settings.load();
    const config::Health& health = settings->config.health;
    for (const BackendRef& backend : present) {
        auto& monitor = monitors_[backend->slot];
        const bool is_another =
            monitor && (monitor->backend() != backend || monitor->health() != health);
        if (is_another || (monitor && monitor->is_broken())) {
            monitor->stop();  // the backend, or how to watch it, is another: the old one ends first
            if (!monitor->has_ended()) {
                continue;
            }
            monitor.reset();
        }
        if (!monitor) {
            monitor = std::make_unique<BackendMonitor>(worker_, services_, backend, health);
            monitor->start();
        }
    }
    std::erase_if(monitors_, [&](const auto& entry) {
        const auto& monitor = entry.second;
        if (!monitor) {
            return true;  // there was no memory for it
        }
        const bool is_present = std::ranges::find(present, monitor->backend()) != present.end();
        if (!is_present) {
            monitor->stop();
        }
        return !is_present && monitor->has_ended();
    });
}

}  // namespace prefix_router::proxy
