#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/beast/core/flat_buffer.hpp>

#include "engine_sim/http_request.hpp"
#include "engine_sim/live_engine.hpp"
#include "engine_sim/net_types.hpp"

namespace prefix_router::engine_sim {

/// One client: reads requests, writes bytes, notices departure, and sleeps until there is progress.
/// A client that closes its connection or its sending half has left, as uvicorn reads it. Owned by
/// its coroutine, single-threaded.
class ClientConnection final : public ProgressListener,
                               public std::enable_shared_from_this<ClientConnection> {
  public:
    ClientConnection(Socket socket, double idle_close_seconds);

    enum class ReadStatus { Request, Closed, TooLarge, Malformed };
    struct Read {
        ReadStatus status = ReadStatus::Closed;
        HttpRequest request;
    };
    Awaitable<Read> read_request();

    /// False when the client is gone.
    Awaitable<bool> send(std::string_view bytes);

    /// From here until end_watch() the client's departure ends wait_for_progress().
    void begin_watch();
    void end_watch();
    bool departed() const { return departed_; }

    /// Returns after on_progress(), a departure, or stop(), also when that came before the call.
    Awaitable<void> wait_for_progress();
    void on_progress() override;

    /// Lets the peer read what was sent before the connection ends.
    Awaitable<void> close_lingering();
    /// Ends whatever the connection is doing.
    void stop();

  private:
    Awaitable<bool> wait_for_bytes();
    void on_readable(const boost::system::error_code& error, unsigned watch);
    void depart();

    Socket socket_;
    boost::beast::flat_buffer buffer_;
    Timer wake_;
    double idle_close_seconds_;
    bool departed_ = false;
    bool progressed_ = false;
    unsigned watch_ = 0;  ///< odd while watching; an old wait's answer is told by it
};

}  // namespace prefix_router::engine_sim
