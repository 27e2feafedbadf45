#include "admin/slow_answers.hpp"

#include <exception>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "prefix_router/base/contain.hpp"

namespace prefix_router::admin {
namespace {

namespace asio = boost::asio;

constexpr auto kToken = asio::as_tuple(asio::use_awaitable);

asio::awaitable<Answer> carry_out(std::function<Answer()> make) {
    co_return make();
}

}  // namespace

SlowAnswers::SlowAnswers()
    : open_(queue_.get_executor()), thread_([this] {
          while (!contain("a change by the admin listener", [this] { queue_.run(); })) {
          }
      }) {}

SlowAnswers::~SlowAnswers() {
    stop();
}

asio::awaitable<Answer> SlowAnswers::answer(std::function<Answer()> make) {
    auto work = carry_out(std::move(make));
    auto [failure, answer] = co_await asio::co_spawn(queue_, std::move(work), kToken);
    if (failure) {
        std::rethrow_exception(failure);
    }
    co_return std::move(answer);
}

void SlowAnswers::stop() {
    if (thread_.joinable()) {
        queue_.stop();
        thread_.join();
    }
}

}  // namespace prefix_router::admin
