#include "prefix_router/net/worker.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <boost/asio/post.hpp>

#include "prefix_router/base/contain.hpp"

#include "net/loop.hpp"

namespace prefix_router::net {
namespace {

constexpr std::size_t kScratchBytes = std::size_t{64} << 10;

}  // namespace

/// The frame that carries a spawned task: it starts at once and frees itself.
struct Spawned {
    struct promise_type {
        Spawned get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        [[noreturn]] void unhandled_exception() noexcept { std::terminate(); }
    };

    static Spawned start(Worker& worker, Task<void> task) {
        ++worker.running_tasks_;
        try {
            co_await std::move(task);
        } catch (const std::exception& failure) {
            tell_contained("a connection or a watch", failure);
        }
        worker.task_ended();
    }
};

Worker::Worker(std::size_t kept_buffers)
    : loop_(std::make_unique<Loop>()),
      buffers_(kept_buffers),
      scratch_memory_(std::make_unique_for_overwrite<char[]>(kScratchBytes)),
      scratch_(scratch_memory_.get(), kScratchBytes) {
    every(kTickLength, [this] { ticks_.advance(); });
}

Worker::~Worker() = default;

void Worker::run() {
    for (Repeat& repeat : loop_->repeats) {
        repeat.due = loop_->clock.now() + repeat.interval;
    }
    while (!loop_->context.stopped()) {
        contain("an event", [this] { turn(); });
    }
}

void Worker::turn() {
    constexpr std::chrono::milliseconds kNow{0};
    loop_->sockets.wait(std::max(kNow, loop_->time_left()));
    // First, since what was posted came before whatever followed from it on a socket.
    if (loop_->doorbell.answer()) {
        while (!contain("posted work", [this] { loop_->context.poll(); })) {
        }
        if (is_asked_to_stop_.exchange(false)) {
            begin_stop();
        }
    }
    loop_->sockets.tell();
    run_repeats();  // after them: what has come has come in time
    end_turn();
}

void Worker::run_repeats() {
    for (Repeat& repeat : loop_->repeats) {
        if (repeat.due <= loop_->clock.now()) {
            contain("a repeated errand", repeat.work);
            repeat.due = loop_->clock.now() + repeat.interval;
        }
    }
}

/// Those that come to wait meanwhile go on in the same call.
void Worker::end_turn() {
    for (std::size_t next = 0; next < at_turn_end_.size(); ++next) {
        at_turn_end_[next].resume();
    }
    at_turn_end_.clear();
}

void Worker::at_stop(std::function<void()> work) {
    at_stop_ = std::move(work);
}

void Worker::stop() noexcept {
    is_asked_to_stop_.store(true);
    loop_->doorbell.ring();
}

void Worker::begin_stop() {
    if (at_stop_) {
        contain("the stop of a worker", at_stop_);
    }
    is_stopping_ = true;
    if (running_tasks_ == 0) {
        loop_->context.stop();
    }
}

void Worker::post(std::function<void()> work) {
    boost::asio::post(loop_->context, std::move(work));
    loop_->doorbell.ring();
}

void Worker::every(std::chrono::milliseconds interval, std::function<void()> work) {
    loop_->repeats.push_back({interval, std::move(work), TimePoint::max()});
}

void Worker::spawn(Task<void> task) {
    Spawned::start(*this, std::move(task));
}

void Worker::task_ended() {
    --running_tasks_;
    if (is_stopping_ && running_tasks_ == 0) {
        loop_->context.stop();
    }
}

}  // namespace prefix_router::net
