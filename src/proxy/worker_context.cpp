#include "proxy/worker_context.hpp"

#include <chrono>
#include <ctime>
#include <utility>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>

#include "prefix_router/base/contain.hpp"

#include "proxy/client_connection.hpp"
#include "proxy/exchange.hpp"

namespace prefix_router::proxy {
namespace {

constexpr std::size_t kSpareExchanges = 256;
constexpr std::size_t kLogBatch = std::size_t{16} << 10;

/// "2026-11-30T14:26:01.250Z": the log's times are as fine as the tick.
void format_time(std::string& out) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(now);
    const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(now - whole).count();
    const std::time_t seconds = whole.count();
    std::tm parts{};
    static_cast<void>(::gmtime_r(&seconds, &parts));
    char text[32];
    const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S.", &parts);
    out.assign(text, size);
    out += static_cast<char>('0' + millis / 100);
    out += static_cast<char>('0' + millis / 10 % 10);
    out += static_cast<char>('0' + millis % 10);
    out += 'Z';
}

}  // namespace

WorkerContext::WorkerContext(Services& services_,
                             const prompt::RequestReaderOptions& reader_options, std::uint64_t seed)
    : services(services_),
      settings(services_.settings.load()),
      worker(kept_buffers(settings->config)),
      reader(reader_options),
      random(seed),
      connections(settings->config.timeouts.backend_idle) {
    format_time(time_text_);
    worker.ticks().add(*this);
    worker.ticks().add(connections);
}

WorkerContext::~WorkerContext() {
    flush_log();
}

void WorkerContext::take(std::shared_ptr<const Settings> next) {
    settings = std::move(next);
    connections.set_idle_limit(settings->config.timeouts.backend_idle);
}

std::unique_ptr<Exchange> WorkerContext::take_exchange() {
    if (spare_.empty()) {
        return std::make_unique<Exchange>(*this);
    }
    auto exchange = std::move(spare_.back());
    spare_.pop_back();
    return exchange;
}

void WorkerContext::give_back(std::unique_ptr<Exchange> exchange) {
    if (spare_.size() < kSpareExchanges) {
        exchange->recycle();
        spare_.push_back(std::move(exchange));
    }
}

void WorkerContext::connection_opened(ClientConnection& connection) {
    connection.place = open_.size();
    open_.push_back(&connection);
    services.metrics.connections_accepted.Increment();
}

void WorkerContext::connection_closed(ClientConnection& connection) {
    ClientConnection* const last = open_.back();
    open_[connection.place] = last;
    last->place = connection.place;
    open_.pop_back();
}

void WorkerContext::signal_all(net::Events events) {
    // A signal may close its connection, which moves the last one into its place: from the back,
    // everyone is reached.
    for (std::size_t i = open_.size(); i > 0; --i) {
        if (i <= open_.size()) {
            open_[i - 1]->parker.signal(events);
        }
    }
}

void WorkerContext::hold(std::uint64_t request, Exchange& exchange) {
    held_.emplace(request, &exchange);
}

void WorkerContext::unhold(std::uint64_t request) {
    held_.erase(request);
}

void WorkerContext::wake_held(std::uint64_t request) noexcept {
    const bool is_posted = contain("a wake-up", [this, request] {
        worker.post([this, request] {
            if (const auto found = held_.find(request); found != held_.end()) {
                found->second->wake();
            }
        });
    });
    if (!is_posted) {
        has_lost_wakeup_.store(true);
    }
}

/// Those that have no reason to wake look and wait on.
void WorkerContext::wake_all_held() {
    std::vector<std::uint64_t> requests;
    for (const auto& [request, exchange] : held_) {
        requests.push_back(request);
    }
    for (const std::uint64_t request : requests) {
        if (const auto found = held_.find(request); found != held_.end()) {
            found->second->wake();
        }
    }
}

bool WorkerContext::may_complain() {
    return std::exchange(last_complaint_, worker.ticks().now()) != worker.ticks().now();
}

void WorkerContext::log(const RequestRecord& record) {
    append_access_line(services.access_log.format(), time_text_, record, lines_);
    if (lines_.size() >= kLogBatch) {
        flush_log();
    }
}

void WorkerContext::on_tick(net::Tick /*now*/) {
    heed_shortage();
    if (has_lost_wakeup_.exchange(false)) {
        wake_all_held();
    }
    format_time(time_text_);
    flush_log();
    publish_spare_buffers();
}

/// A connection that is needed now is worth more than the idle ones of all workers.
void WorkerContext::heed_shortage() {
    const auto shortages = services.connections.shortages.load(std::memory_order_relaxed);
    if (std::exchange(heeded_shortages_, shortages) != shortages) {
        connections.close_idle();
    }
}

void WorkerContext::publish_spare_buffers() {
    const auto spare = static_cast<double>(worker.buffers().kept());
    services.metrics.spare_buffer_bytes.Increment(spare - published_spare_);
    published_spare_ = spare;
}

void WorkerContext::flush_log() {
    if (!lines_.empty()) {
        services.access_log.write(std::exchange(lines_, {}));
        lines_.reserve(kLogBatch + kLogBatch / 8);
    }
}

}  // namespace prefix_router::proxy
