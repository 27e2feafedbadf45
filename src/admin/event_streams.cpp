#include "admin/event_streams.hpp"

#include <chrono>
#include <exception>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <spdlog/spdlog.h>

namespace prefix_router::admin {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;

constexpr auto kToken = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::seconds kWriteTime{10};
constexpr std::string_view kHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
    "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n";

}  // namespace

EventStreams::EventStreams(asio::io_context& io, std::shared_ptr<EventFeed> feed)
    : io_(io), feed_(std::move(feed)), timer_(io) {}

void EventStreams::begin() {
    asio::co_spawn(io_, tick(), [](const std::exception_ptr&) {});
}

bool EventStreams::is_full() {
    forget_gone();
    return listeners_.size() >= kMost;
}

void EventStreams::forget_gone() {
    std::erase_if(listeners_, [](const auto& listener) { return listener.expired(); });
}

asio::awaitable<void> EventStreams::tick() {
    while (!is_ended_) {
        timer_.expires_after(feed_->period());
        co_await timer_.async_wait(kToken);
        publish();
    }
}

void EventStreams::publish() {
    forget_gone();
    const auto listeners =
        listeners_.empty() ? EventFeed::Listeners::None : EventFeed::Listeners::Some;
    try {
        auto events = std::make_shared<const std::string>(feed_->next(listeners));
        is_failing_ = false;
        latest_ = std::move(events);
        ++number_;
        wake_all();
    } catch (const std::exception& failure) {
        if (!std::exchange(is_failing_, true)) {
            spdlog::error("admin: the event feed failed: {}", failure.what());
        }
    }
}

void EventStreams::wake_all() {
    for (const auto& weak : listeners_) {
        if (const auto listener = weak.lock()) {
            listener->wake.cancel();
        }
    }
}

void EventStreams::end() {
    is_ended_ = true;
    timer_.cancel();
    wake_all();
}

/// A listener says nothing more: whatever comes is its end.
void EventStreams::watch(beast::tcp_stream& stream, const std::shared_ptr<Listener>& listener) {
    stream.socket().async_wait(asio::ip::tcp::socket::wait_read,
                               [listener](const boost::system::error_code&) {
                                   listener->is_gone = true;
                                   listener->wake.cancel();
                               });
}

std::string EventStreams::greeting() {
    try {
        return std::string(kHead) + feed_->greeting();
    } catch (const std::exception& failure) {
        spdlog::error("admin: the event feed failed: {}", failure.what());
        return {};
    }
}

asio::awaitable<void> EventStreams::serve(beast::tcp_stream& stream) {
    const auto listener = std::make_shared<Listener>(io_);
    listeners_.emplace_back(listener);
    watch(stream, listener);
    auto events = std::make_shared<const std::string>(greeting());
    std::uint64_t written = number_;
    while (!events->empty()) {
        stream.expires_after(kWriteTime);
        const auto buffer = asio::buffer(*events);
        const auto [error, bytes] = co_await asio::async_write(stream, buffer, kToken);
        if (error) {
            co_return;
        }
        stream.expires_never();
        while (written == number_ && !listener->is_gone && !is_ended_) {
            listener->wake.expires_at(asio::steady_timer::time_point::max());
            co_await listener->wake.async_wait(kToken);
        }
        if (listener->is_gone || is_ended_) {
            co_return;
        }
        written = number_;
        events = latest_;
    }
}

}  // namespace prefix_router::admin
