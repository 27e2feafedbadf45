#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace prefix_router {

/// An immutable value that readers take as a shared pointer and one writer replaces. A mutex,
/// because std::atomic<std::shared_ptr> makes ThreadSanitizer report a race inside libstdc++ 12.
template <class T>
class SnapshotCell {
  public:
    explicit SnapshotCell(std::shared_ptr<const T> value) : value_(std::move(value)) {}

    std::shared_ptr<const T> load() const {
        const std::lock_guard lock(mutex_);
        return value_;
    }

    void store(std::shared_ptr<const T> value) {
        const std::lock_guard lock(mutex_);
        value_.swap(value);
    }

  private:
    mutable std::mutex mutex_;
    std::shared_ptr<const T> value_;
};

}  // namespace prefix_router
