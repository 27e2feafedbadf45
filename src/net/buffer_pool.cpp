#include "prefix_router/net/buffer_pool.hpp"

#include <bit>
#include <cstdlib>
#include <new>

namespace prefix_router::net {

bool MemoryBudget::try_take(std::size_t bytes) {
    const std::size_t limit = limit_.load(std::memory_order_relaxed);
    std::size_t used = used_.load(std::memory_order_relaxed);
    do {
        if (bytes > limit || used > limit - bytes) {
            return false;
        }
    } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return true;
}

bool MemoryBudget::try_claim_kept_back() {
    return has_part_kept_back_.load(std::memory_order_relaxed) &&
           !is_claimed_.exchange(true, std::memory_order_relaxed);
}

bool MemoryShare::grow_to(std::size_t bytes) {
    if (bytes <= taken_) {
        return true;
    }
    if (!budget_->try_take(bytes - taken_)) {
        uses_kept_back_ = uses_kept_back_ || budget_->try_claim_kept_back();
        if (!uses_kept_back_) {
            return false;
        }
        budget_->take(bytes - taken_);
    }
    taken_ = bytes;
    return true;
}

void MemoryShare::release() {
    if (taken_ != 0) {
        budget_->give_back(std::exchange(taken_, 0));
    }
    if (std::exchange(uses_kept_back_, false)) {
        budget_->return_kept_back();
    }
}

Buffer::~Buffer() {
    if (data_ != nullptr) {
        pool_->put(data_, capacity_);
    }
}

void Buffer::swap(Buffer& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
}

BufferPool::~BufferPool() {
    for (auto& list : free_) {
        for (char* data : list) {
            std::free(data);
        }
    }
}

std::size_t BufferPool::class_of(std::size_t bytes) {
    const std::size_t rounded = std::bit_ceil(bytes < kSmallest ? kSmallest : bytes);
    return static_cast<std::size_t>(std::countr_zero(rounded) - std::countr_zero(kSmallest));
}

Buffer BufferPool::take(std::size_t bytes) {
    const std::size_t size_class = class_of(bytes);
    Buffer buffer;
    buffer.pool_ = this;
    buffer.capacity_ = kSmallest << size_class;
    auto& list = free_[size_class];
    if (list.empty()) {
        buffer.data_ = static_cast<char*>(std::malloc(buffer.capacity_));
        if (buffer.data_ == nullptr) {
            throw std::bad_alloc();
        }
    } else {
        buffer.data_ = list.back();
        list.pop_back();
        kept_ -= buffer.capacity_;
    }
    return buffer;
}

void BufferPool::put(char* data, std::size_t capacity) {
    if (capacity > keep_bytes_ - kept_) {
        std::free(data);
        return;
    }
    kept_ += capacity;
    free_[class_of(capacity)].push_back(data);
}

}  // namespace prefix_router::net
