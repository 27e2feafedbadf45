#pragma once

#include <functional>
#include <thread>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include "prefix_router/admin/server.hpp"

namespace prefix_router::admin {

/// Makes answers that wait for files and names, one after the other on a thread of its own, while
/// the admin thread goes on. Built and stopped by one owner; outlived by who waits for an answer.
class SlowAnswers {
  public:
    SlowAnswers();
    ~SlowAnswers();
    SlowAnswers(const SlowAnswers&) = delete;
    SlowAnswers& operator=(const SlowAnswers&) = delete;

    /// Comes back on the caller's thread. What `make` throws is thrown.
    boost::asio::awaitable<Answer> answer(std::function<Answer()> make);
    /// Waits for the answer that is being made; others are not made any more. Idempotent.
    void stop();

  private:
    boost::asio::io_context queue_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> open_;
    std::thread thread_;
};

}  // namespace prefix_router::admin
