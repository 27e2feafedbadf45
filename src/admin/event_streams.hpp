#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/tcp_stream.hpp>

#include "prefix_router/admin/event_feed.hpp"

namespace prefix_router::admin {

/// The open event streams (Server-Sent Events) of the admin listener. At most kMost at a time; each
/// waits between two events without holding anything up, and one that does not read misses events
/// and is closed after ten seconds. Lives on the admin thread.
class EventStreams {
  public:
    static constexpr std::size_t kMost = 16;

    EventStreams(boost::asio::io_context& io, std::shared_ptr<EventFeed> feed);

    /// Asks the feed every period, from now on.
    void begin();
    bool is_full();
    /// Writes to a client whose request is answered by the feed, until one side ends.
    boost::asio::awaitable<void> serve(boost::beast::tcp_stream& stream);
    /// Ends every stream after what it is writing; clients come back to who listens then.
    void end();

  private:
    struct Listener {
        explicit Listener(boost::asio::io_context& io) : wake(io) {}
        boost::asio::steady_timer wake;
        bool is_gone = false;
    };

    boost::asio::awaitable<void> tick();
    std::string greeting();
    void publish();
    void wake_all();
    void forget_gone();
    static void watch(boost::beast::tcp_stream& stream, const std::shared_ptr<Listener>& listener);

    boost::asio::io_context& io_;
    std::shared_ptr<EventFeed> feed_;
    boost::asio::steady_timer timer_;
    std::vector<std::weak_ptr<Listener>> listeners_;
    std::shared_ptr<const std::string> latest_;
    std::uint64_t number_ = 0;  ///< of the latest event
    bool is_ended_ = false;
    bool is_failing_ = false;
};

}  // namespace prefix_router::admin
