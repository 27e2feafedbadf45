#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

namespace prefix_router::net {

/// The bytes that all threads together may hold in bodies (limits.buffered_bytes). Bodies take
/// them as they come, so many half-read ones could hold all of it and none be completed: a part of
/// the size of the largest body is kept back for one at a time. Thread-safe.
class MemoryBudget {
  public:
    explicit MemoryBudget(std::size_t limit, std::size_t kept_back = 0) {
        set_limit(limit, kept_back);
    }

    /// What is taken stays taken, also where it is more than the new limit.
    void set_limit(std::size_t limit, std::size_t kept_back) {
        limit_.store(limit - std::min(kept_back, limit), std::memory_order_relaxed);
        has_part_kept_back_.store(kept_back > 0, std::memory_order_relaxed);
    }

    /// Takes `bytes` if they fit.
    bool try_take(std::size_t bytes);
    /// The part kept back, for whoever gets true: take() does not ask then.
    bool try_claim_kept_back();
    void return_kept_back() { is_claimed_.store(false, std::memory_order_relaxed); }
    void take(std::size_t bytes) { used_.fetch_add(bytes, std::memory_order_relaxed); }
    void give_back(std::size_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
    std::size_t used() const { return used_.load(std::memory_order_relaxed); }

  private:
    std::atomic<std::size_t> limit_{0};  // without the part kept back
    std::atomic<bool> has_part_kept_back_{false};
    std::atomic<bool> is_claimed_{false};
    std::atomic<std::size_t> used_{0};
};

/// What one request has taken from the budget; gives it back when it goes.
class MemoryShare {
  public:
    explicit MemoryShare(MemoryBudget& budget) : budget_(&budget) {}
    MemoryShare(const MemoryShare&) = delete;
    MemoryShare& operator=(const MemoryShare&) = delete;
    ~MemoryShare() { release(); }

    /// Makes the share at least `bytes`; false, and unchanged, when the budget is used up.
    bool grow_to(std::size_t bytes);
    void release();

  private:
    MemoryBudget* budget_;
    std::size_t taken_ = 0;
    bool uses_kept_back_ = false;
};

class BufferPool;

/// A block of memory from a BufferPool, given back when it goes. Not initialised. Used on the
/// pool's thread only.
class Buffer {
  public:
    Buffer() = default;
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        Buffer taken(std::move(other));
        swap(taken);
        return *this;
    }
    ~Buffer();

    char* data() { return data_; }
    const char* data() const { return data_; }
    std::size_t capacity() const { return capacity_; }

  private:
    friend class BufferPool;
    void swap(Buffer& other) noexcept;

    BufferPool* pool_ = nullptr;
    char* data_ = nullptr;
    std::size_t capacity_ = 0;
};

/// Body buffers of one thread, in power-of-two classes from 4 KiB, last in first out so that they
/// are warm: a page fault per 4 KiB of a fresh 1 MB buffer costs more than relaying it. Keeps at
/// most `keep_bytes`; what exceeds that goes back to the system. Not thread-safe.
class BufferPool {
  public:
    explicit BufferPool(std::size_t keep_bytes) : keep_bytes_(keep_bytes) {}
    BufferPool(const BufferPool&) = delete;
    BufferPool& operator=(const BufferPool&) = delete;
    ~BufferPool();

    /// At least `bytes` (which is at least 1), rounded up to its class.
    Buffer take(std::size_t bytes);
    std::size_t kept() const { return kept_; }

  private:
    friend class Buffer;
    static constexpr std::size_t kSmallest = 4096;
    static constexpr std::size_t kClasses = 40;

    static std::size_t class_of(std::size_t bytes);
    void put(char* data, std::size_t capacity);

    std::size_t keep_bytes_;
    std::size_t kept_ = 0;
    std::array<std::vector<char*>, kClasses> free_;
};

}  // namespace prefix_router::net
