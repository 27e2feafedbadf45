#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/net/worker.hpp"

#include "net/doorbell.hpp"
#include "net/socket_set.hpp"

namespace prefix_router::net {

using Executor = boost::asio::io_context::executor_type;

/// Waits without asking for memory, so that it cannot fail to wait again.
struct Repeat {
    std::chrono::milliseconds interval;
    std::function<void()> work;
    TimePoint due;
};

/// What a worker's thread waits for: its sockets in a set of their own, the time of its repeats,
/// and posted work in an io_context, which it runs when the doorbell rang. Only src/net includes
/// Asio: the rest of the data plane is written against Stream and Task, and compiles in a tenth of
/// the time.
class Worker::Loop {
  public:
    Loop() : work(context.get_executor()), doorbell(sockets) {}

    /// How long nothing is due; 0 or less: something is.
    std::chrono::milliseconds time_left() const {
        auto due = TimePoint::max();
        for (const Repeat& repeat : repeats) {
            due = std::min(due, repeat.due);
        }
        return std::chrono::ceil<std::chrono::milliseconds>(due - clock.now());
    }

    boost::asio::io_context context{1};  // one thread runs it: no locking inside
    boost::asio::executor_work_guard<Executor> work;
    SteadyClock clock;
    std::vector<Repeat> repeats;  // never empty: the tick is one
    SocketSet sockets;
    Doorbell doorbell;
};

}  // namespace prefix_router::net
