#pragma once

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/net/buffer_pool.hpp"
#include "prefix_router/net/task.hpp"
#include "prefix_router/net/ticker.hpp"

namespace prefix_router::net {

/// One thread's event loop (an io_context of its own) with everything that is per thread: the
/// tick, the body buffers, the scratch space. Connections stay on the worker that accepted them.
///
/// run() is called by the thread that becomes the worker's; it returns after stop() once every
/// spawned task has ended. An exception costs the event, the tick or the task that threw it. post()
/// and stop() may be called from any thread, all else from the worker's own (or before run()).
class Worker {
  public:
    /// `kept_buffers`: bytes of body buffers that it keeps for the next bodies.
    explicit Worker(std::size_t kept_buffers = 0);
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    void run();
    /// No new work is expected: run() returns when the running tasks have ended. Asks for no
    /// memory: a process that has none can still end.
    void stop() noexcept;
    /// What the worker does when it is stopped, first; call before run().
    void at_stop(std::function<void()> work);
    /// Runs `work` on the worker's thread, later. The thread's mailbox.
    void post(std::function<void()> work);
    /// Runs `work` again and again until the worker ends; call before run().
    void every(std::chrono::milliseconds interval, std::function<void()> work);

    /// Starts a task that belongs to nobody. What it throws ends it, with a line in the log.
    void spawn(Task<void> task);
    std::size_t running_tasks() const { return running_tasks_; }

    /// Awaited: goes on when all that was ready in this turn of the loop has been seen to, before
    /// the thread waits. Sends that are put off till then meet receivers that are awake: a sleeping
    /// one costs its waking, of which one is enough.
    auto turn_end() {
        struct Awaiter {
            Worker& worker;
            bool await_ready() const { return false; }
            void await_suspend(std::coroutine_handle<> waiting) {
                worker.at_turn_end_.push_back(waiting);
            }
            void await_resume() const {}
        };
        return Awaiter{*this};
    }

    TickList& ticks() { return ticks_; }
    BufferPool& buffers() { return buffers_; }
    /// 64 KiB that anybody may use until its next suspension point.
    std::span<char> scratch() { return scratch_; }

    class Loop;
    Loop& loop() { return *loop_; }

  private:
    friend struct Spawned;
    void task_ended();
    void turn();
    void run_repeats();
    void end_turn();
    void begin_stop();

    std::unique_ptr<Loop> loop_;
    TickList ticks_;
    BufferPool buffers_;
    std::unique_ptr<char[]> scratch_memory_;
    std::span<char> scratch_;
    std::vector<std::coroutine_handle<>> at_turn_end_;
    std::size_t running_tasks_ = 0;
    std::function<void()> at_stop_;
    std::atomic<bool> is_asked_to_stop_{false};
    bool is_stopping_ = false;
};

}  // namespace prefix_router::net
