#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <utility>

#include "prefix_router/net/frame_pool.hpp"

namespace prefix_router::net {

/// The coroutine of the data plane: lazy, single-threaded, resumed by whoever it waits for. A
/// Task is awaited once, by one parent, and control passes to and fro by symmetric transfer, so a
/// chain of awaits costs no stack. Destroying a Task that has not ended destroys its frame.
///
/// GCC 12 destroys temporaries twice around co_await: a statement that holds `co_await` holds no
/// `{...}` temporary and no lambda. Spawned tasks own their arguments by value; directly awaited
/// ones may take references.
template <class T = void>
class Task;

namespace detail {

class PromiseBase {
  public:
    static void* operator new(std::size_t bytes) { return frame_pool::take(bytes); }
    static void operator delete(void* frame, std::size_t bytes) noexcept {
        frame_pool::give_back(frame, bytes);
    }

    std::suspend_always initial_suspend() noexcept { return {}; }

    struct FinalAwaiter {
        bool await_ready() noexcept { return false; }
        template <class Promise>
        std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) noexcept {
            return ended.promise().continuation_;
        }
        void await_resume() noexcept {}
    };
    FinalAwaiter final_suspend() noexcept { return {}; }

    void unhandled_exception() noexcept { exception_ = std::current_exception(); }
    void continue_with(std::coroutine_handle<> parent) noexcept { continuation_ = parent; }
    void rethrow() const {
        if (exception_) {
            std::rethrow_exception(exception_);
        }
    }

  private:
    std::coroutine_handle<> continuation_ = std::noop_coroutine();
    std::exception_ptr exception_;
};

template <class T>
class Promise final : public PromiseBase {
  public:
    Task<T> get_return_object() noexcept;
    void return_value(T value) { value_.emplace(std::move(value)); }
    T take() {
        rethrow();
        return std::move(*value_);
    }

  private:
    std::optional<T> value_;
};

template <>
class Promise<void> final : public PromiseBase {
  public:
    Task<void> get_return_object() noexcept;
    void return_void() noexcept {}
    void take() const { rethrow(); }
};

}  // namespace detail

template <class T>
class [[nodiscard]] Task {
  public:
    using promise_type = detail::Promise<T>;
    using Handle = std::coroutine_handle<promise_type>;

    explicit Task(Handle frame) noexcept : frame_(frame) {}
    Task(Task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;
    Task& operator=(Task&&) = delete;
    ~Task() {
        if (frame_) {
            frame_.destroy();
        }
    }

    class Awaiter {
      public:
        explicit Awaiter(Handle frame) noexcept : frame_(frame) {}
        bool await_ready() const noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<> parent) noexcept {
            frame_.promise().continue_with(parent);
            return frame_;
        }
        T await_resume() { return frame_.promise().take(); }

      private:
        Handle frame_;
    };
    Awaiter operator co_await() && noexcept { return Awaiter(frame_); }

  private:
    Handle frame_;
};

namespace detail {

template <class T>
Task<T> Promise<T>::get_return_object() noexcept {
    return Task<T>(std::coroutine_handle<Promise>::from_promise(*this));
}

inline Task<void> Promise<void>::get_return_object() noexcept {
    return Task<void>(std::coroutine_handle<Promise>::from_promise(*this));
}

}  // namespace detail
}  // namespace prefix_router::net
