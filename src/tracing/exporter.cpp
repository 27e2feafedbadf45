#include "tracing/exporter.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <spdlog/spdlog.h>

#include "prefix_router/base/contain.hpp"

namespace prefix_router::tracing {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLinger{1'000};
constexpr milliseconds kFirstPause{1'000};
constexpr milliseconds kLongestPause{30'000};
constexpr milliseconds kFlush{5'000};
constexpr int kAttempts = 5;

bool may_come_later(int status) {
    return status == 429 || (status >= 502 && status <= 504);
}

}  // namespace

Tracer::Exporter::Exporter(web::HttpRequest request, Service service, Metrics& metrics)
    : request_(std::move(request)), service_(std::move(service)), metrics_(metrics) {
    thread_ = std::thread([this] { run(); });
}

Tracer::Exporter::~Exporter() {
    {
        std::unique_lock lock(mutex_);
        is_closing_ = true;
        wake_.notify_all();
        ended_.wait_for(lock, kFlush, [this] { return has_ended_; });
    }
    client_.cancel();
    thread_.join();
}

void Tracer::Exporter::offer(Span span) {
    bool is_first = false;
    bool is_batch = false;
    {
        const std::lock_guard lock(mutex_);
        if (queue_.size() >= kMostQueued) {
            metrics_.dropped_queue_full.Increment();
            return;
        }
        queue_.push_back(std::move(span));
        is_first = queue_.size() == 1;
        is_batch = queue_.size() == kBatch;
        metrics_.queued.Set(static_cast<double>(queue_.size()));
    }
    if (is_first || is_batch) {
        wake_.notify_one();
    }
}

void Tracer::Exporter::run() {
    bool goes_on = true;
    while (goes_on) {
        const bool is_done = contain("the export of spans", [&] {
            auto batch = next_batch();
            goes_on = !batch.empty();
            if (goes_on) {
                deliver(std::move(batch));
            }
        });
        goes_on = goes_on && (is_done || rest(kFirstPause));
    }
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    ended_.notify_all();
}

/// Empty: the tracer ends, and nothing is left.
std::vector<Span> Tracer::Exporter::next_batch() {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return is_closing_ || !queue_.empty(); });
    wake_.wait_for(lock, kLinger, [this] { return is_closing_ || queue_.size() >= kBatch; });
    const auto count = static_cast<std::ptrdiff_t>(std::min(queue_.size(), kBatch));
    std::vector<Span> batch(std::make_move_iterator(queue_.begin()),
                            std::make_move_iterator(queue_.begin() + count));
    queue_.erase(queue_.begin(), queue_.begin() + count);
    metrics_.queued.Set(static_cast<double>(queue_.size()));
    return batch;
}

void Tracer::Exporter::deliver(std::vector<Span> batch) {
    request_.body = encode_spans(service_, batch);
    milliseconds pause = kFirstPause;
    for (int attempt = 1; attempt <= kAttempts && !client_.is_cancelled(); ++attempt) {
        milliseconds wanted = pause;
        const Fate fate = send(batch.size(), wanted);
        if (fate != Fate::Later) {
            return;
        }
        if (attempt == kAttempts || !rest(std::min(wanted, kLongestPause))) {
            break;
        }
        pause = std::min(2 * pause, kLongestPause);
    }
    metrics_.dropped_undelivered.Increment(static_cast<double>(batch.size()));
}

/// `pause`: raised to what the collector asks for.
Tracer::Exporter::Fate Tracer::Exporter::send(std::size_t spans, milliseconds& pause) {
    const auto answer = client_.exchange(request_);
    if (!answer) {
        complain(answer.error().message());
        return Fate::Later;
    }
    pause = std::max<milliseconds>(pause, answer->retry_after);
    return judge(*answer, spans);
}

Tracer::Exporter::Fate Tracer::Exporter::judge(const web::HttpAnswer& answer, std::size_t spans) {
    if (answer.status / 100 == 2) {
        const auto rejected = std::min<std::uint64_t>(rejected_spans(answer.body), spans);
        metrics_.exported.Increment(static_cast<double>(spans - rejected));
        metrics_.dropped_refused.Increment(static_cast<double>(rejected));
        if (std::exchange(is_failing_, false)) {
            spdlog::info("tracing: the collector takes spans again");
        }
        return Fate::Taken;
    }
    complain("it answers " + std::to_string(answer.status));
    if (may_come_later(answer.status)) {
        return Fate::Later;
    }
    metrics_.dropped_refused.Increment(static_cast<double>(spans));
    return Fate::Refused;
}

/// Once per trouble, not once per batch.
void Tracer::Exporter::complain(const std::string& what) {
    if (!client_.is_cancelled() && !std::exchange(is_failing_, true)) {
        spdlog::warn("tracing: {} does not take spans: {}; requests are not affected", request_.url,
                     what);
    }
}

/// False: the tracer ends, and there is no time for another attempt.
bool Tracer::Exporter::rest(milliseconds pause) {
    std::unique_lock lock(mutex_);
    return !wake_.wait_for(lock, pause, [this] { return is_closing_; });
}

}  // namespace prefix_router::tracing
