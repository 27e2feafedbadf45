#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include "prefix_router/net/worker.hpp"

#include "net/doorbell.hpp"
#include "net/socket_set.hpp"

namespace prefix_router::net {

using Executor = boost::asio::io_context::executor_type;
using TickTimer = boost::asio::basic_waitable_timer<
    std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>, Executor>;

struct Repeat {
    TickTimer timer;
    std::chrono::milliseconds interval;
    std::function<void()> work;
};

/// What a worker's thread waits for: its sockets in a set of their own, timers and posted work in
/// an io_context, which it runs when the doorbell rang or a timer is due. Only src/net includes
/// Asio: the rest of the data plane is written against Stream and Task, and compiles in a tenth of
/// the time.
class Worker::Loop {
  public:
    Loop() : work(context.get_executor()), timer(context.get_executor()), doorbell(sockets) {}

    /// How long nothing is due; 0 or less: something is.
    std::chrono::milliseconds time_left() const {
        auto due = timer.expiry();
        for (const auto& repeat : repeats) {
            due = std::min(due, repeat->timer.expiry());
        }
        return std::chrono::ceil<std::chrono::milliseconds>(due - TickTimer::clock_type::now());
    }

    boost::asio::io_context context{1};  // one thread runs it: no locking inside
    boost::asio::executor_work_guard<Executor> work;
    TickTimer timer;
    std::vector<std::unique_ptr<Repeat>> repeats;
    SocketSet sockets;
    Doorbell doorbell;
};

}  // namespace prefix_router::net
