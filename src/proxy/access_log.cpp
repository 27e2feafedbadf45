#include "prefix_router/proxy/access_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <prometheus/counter.h>

namespace prefix_router::proxy {
namespace {

constexpr std::size_t kQueuedBytes = std::size_t{8} << 20;
constexpr mode_t kFileMode = 0640;

}  // namespace

Result<std::unique_ptr<AccessLog>> AccessLog::open(const config::Log& log,
                                                   prometheus::Counter& dropped_lines) {
    int descriptor = -1;
    bool owns = false;
    if (log.access == "stdout") {
        descriptor = STDOUT_FILENO;
    } else if (log.access == "stderr") {
        descriptor = STDERR_FILENO;
    } else if (log.access != "off") {
        descriptor =
            ::open(log.access.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kFileMode);
        owns = true;
        if (descriptor < 0) {
            return Error(ErrorKind::InvalidConfiguration, "log.access: cannot open '" +
                                                              escape_for_log(log.access) +
                                                              "': " + std::strerror(errno));
        }
    }
    return std::unique_ptr<AccessLog>(new AccessLog(descriptor, owns, log.format, dropped_lines));
}

AccessLog::AccessLog(int descriptor, bool owns, LogFormat format,
                     prometheus::Counter& dropped_lines)
    : descriptor_(descriptor),
      owns_descriptor_(owns),
      format_(format),
      dropped_lines_(dropped_lines) {
    if (is_enabled()) {
        thread_ = std::thread([this] { run(); });
    }
}

AccessLog::~AccessLog() {
    if (thread_.joinable()) {
        {
            const std::lock_guard lock(mutex_);
            is_closing_ = true;
        }
        wake_.notify_one();
        thread_.join();
    }
    if (owns_descriptor_) {
        ::close(descriptor_);
    }
}

void AccessLog::write(std::string batch) {
    if (!is_enabled()) {
        return;
    }
    {
        const std::lock_guard lock(mutex_);
        if (queued_bytes_ + batch.size() > kQueuedBytes) {
            dropped_lines_.Increment(
                static_cast<double>(std::count(batch.begin(), batch.end(), '\n')));
            return;
        }
        queued_bytes_ += batch.size();
        batches_.push_back(std::move(batch));
    }
    wake_.notify_one();
}

void AccessLog::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        wake_.wait(lock, [this] { return is_closing_ || !batches_.empty(); });
        if (batches_.empty()) {
            return;
        }
        const std::string batch = std::move(batches_.front());
        batches_.pop_front();
        lock.unlock();
        write_out(batch);
        lock.lock();
        queued_bytes_ -= batch.size();
    }
}

void AccessLog::write_out(std::string_view batch) {
    while (!batch.empty()) {
        const ssize_t count = ::write(descriptor_, batch.data(), batch.size());
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            // A full disk or a closed pipe: the lines are lost, the router goes on.
            dropped_lines_.Increment(
                static_cast<double>(std::count(batch.begin(), batch.end(), '\n')));
            return;
        }
        batch.remove_prefix(static_cast<std::size_t>(count));
    }
}

}  // namespace prefix_router::proxy
