#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "prefix_router/tracing/tracer.hpp"
#include "prefix_router/web/http_client.hpp"

#include "tracing/otlp.hpp"

namespace prefix_router::tracing {

/// The queue of spans and the thread that empties it: up to 512 at a time, at the latest a second
/// after the first. What the collector cannot take now (no answer, 429, 502, 503, 504) is sent
/// again after growing pauses or what Retry-After says, five times; meanwhile the queue fills and
/// then drops. Anything else that is no 2xx drops the batch.
class Tracer::Exporter {
  public:
    static constexpr std::size_t kMostQueued = 4096;
    static constexpr std::size_t kBatch = 512;

    Exporter(web::HttpRequest request, Service service, Metrics& metrics);
    /// Sends what is queued, for five seconds at most.
    ~Exporter();
    Exporter(const Exporter&) = delete;
    Exporter& operator=(const Exporter&) = delete;

    void offer(Span span);

  private:
    enum class Fate : unsigned char { Taken, Refused, Later };

    void run();
    std::vector<Span> next_batch();
    void deliver(std::vector<Span> batch);
    Fate send(std::size_t spans, std::chrono::milliseconds& pause);
    Fate judge(const web::HttpAnswer& answer, std::size_t spans);
    void complain(const std::string& what);
    bool rest(std::chrono::milliseconds pause);

    web::HttpRequest request_;  // of the thread
    const Service service_;
    Metrics& metrics_;
    web::HttpClient client_;
    bool is_failing_ = false;  // of the thread

    std::mutex mutex_;
    std::condition_variable wake_;
    std::condition_variable ended_;
    std::vector<Span> queue_;
    bool is_closing_ = false;
    bool has_ended_ = false;
    std::thread thread_;
};

}  // namespace prefix_router::tracing
