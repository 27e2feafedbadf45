#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "integration/support/message.hpp"
#include "integration/support/socket.hpp"

namespace prefix_router::testing {

/// A request as a backend got it.
struct BackendRequest : Message {
    std::size_t connection = 0;  ///< from 0, in order of arrival, probes not counted
    std::size_t number = 0;      ///< from 0, on its connection

    std::string_view method() const;
    std::string_view target() const;
};

/// The backend's end of one connection, for a script. Each call returns when it is done.
class BackendLine {
  public:
    explicit BackendLine(Socket& socket) : socket_(socket) {}

    bool send(std::string_view bytes) { return socket_.send(bytes); }
    /// A whole answer with a Content-Length.
    bool answer(std::string_view body, std::string_view status = "200 OK",
                std::string_view fields = {});
    void end() { socket_.end_sending(); }
    void reset() { socket_.reset(); }
    /// Waits until the router is gone from this connection; false when it stays.
    bool wait_until_left();

  private:
    Socket& socket_;
};

/// A scripted inference server: real sockets, one blocking thread per connection. The script is
/// called for each request, on its connection's thread; when it returns, the connection is kept
/// for the next request unless the script ended or reset it. Health probes and scrapes are
/// answered apart (200 for /health, 404 for the rest) and never reach the script.
class FakeBackend {
  public:
    using Script = std::function<void(BackendLine& line, const BackendRequest& request)>;

    /// HeadsOnly: the script is called as soon as the head is there, the body is left unread, and
    /// the connection ends with the script.
    enum class Reads : std::uint8_t { WholeRequests, HeadsOnly };

    /// Without a script, each request is answered by "ok".
    explicit FakeBackend(Script script = {}, Reads reads = Reads::WholeRequests);
    ~FakeBackend();
    FakeBackend(const FakeBackend&) = delete;
    FakeBackend& operator=(const FakeBackend&) = delete;

    std::uint16_t port() const { return port_; }
    std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

    /// Those that the script was called for, so far.
    std::vector<BackendRequest> requests() const;
    /// True once `count` have come.
    bool wait_for_requests(std::size_t count) const;

    /// Ends every connection; from now on connecting is refused.
    void refuse();
    /// From now on connecting neither succeeds nor fails: the backlog is full.
    void turn_deaf();

  private:
    struct Connection {
        Socket socket;
        std::thread thread;
    };

    void accept_all();
    void serve(Socket& socket);
    static bool answer_probe(BackendLine& line, const BackendRequest& request);
    void record(const BackendRequest& request);
    void stop_accepting();

    Script script_;
    Reads reads_;
    Socket listener_;
    std::uint16_t port_;
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::vector<BackendRequest> requests_;
    std::size_t next_connection_ = 0;
    bool accepts_ = true;
    std::vector<Socket> fillers_;  // of the backlog
    std::list<Connection> connections_;
    std::thread acceptor_;
};

}  // namespace prefix_router::testing
