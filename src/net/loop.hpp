#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>

#include "prefix_router/net/worker.hpp"

namespace prefix_router::net {

using Executor = boost::asio::io_context::executor_type;
using StreamSocket =
    boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol, Executor>;
using TickTimer = boost::asio::basic_waitable_timer<
    std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>, Executor>;

struct Repeat {
    TickTimer timer;
    std::chrono::milliseconds interval;
    std::function<void()> work;
};

/// The Asio part of a worker. Only src/net includes Asio: the rest of the data plane is written
/// against Stream and Task, and compiles in a tenth of the time.
class Worker::Loop {
  public:
    Loop() : work(context.get_executor()), timer(context.get_executor()) {}

    boost::asio::io_context context{1};  // one thread runs it: no locking inside
    boost::asio::executor_work_guard<Executor> work;
    TickTimer timer;
    std::vector<std::unique_ptr<Repeat>> repeats;
};

}  // namespace prefix_router::net
