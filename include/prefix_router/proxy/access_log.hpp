#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "prefix_router/base/error.hpp"
#include "prefix_router/base/logging.hpp"
#include "prefix_router/config/config.hpp"
#include "prefix_router/proxy/request_record.hpp"

namespace prometheus {
class Counter;
}

namespace prefix_router::proxy {

/// Appends one line, newline included, to `out`. `time` is the wall clock, already formatted.
void append_access_line(LogFormat format, std::string_view time, const RequestRecord& record,
                        std::string& out);

/// The access log's file or stream. Workers hand over whole batches of lines; a thread of its own
/// writes them, so that a slow disk or a full pipe stops nobody. Batches over the bound are
/// dropped and counted. Thread-safe.
class AccessLog {
  public:
    /// Error: InvalidConfiguration, when the file cannot be opened.
    static Result<std::unique_ptr<AccessLog>> open(const config::Log& log,
                                                   prometheus::Counter& dropped_lines);
    ~AccessLog();  ///< writes what is left
    AccessLog(const AccessLog&) = delete;
    AccessLog& operator=(const AccessLog&) = delete;

    bool is_enabled() const { return descriptor_ >= 0; }
    LogFormat format() const { return format_; }
    void write(std::string batch);

  private:
    AccessLog(int descriptor, bool owns, LogFormat format, prometheus::Counter& dropped_lines);
    void run();
    void write_out(std::string_view batch);

    int descriptor_;
    bool owns_descriptor_;
    LogFormat format_;
    prometheus::Counter& dropped_lines_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::string> batches_;
    std::size_t queued_bytes_ = 0;
    bool is_closing_ = false;
    std::thread thread_;
};

}  // namespace prefix_router::proxy
