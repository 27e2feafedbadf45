#pragma once

#include <sys/socket.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
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
    BackendLine(Socket& socket, std::mutex& closing) : socket_(socket), closing_(closing) {}

    bool send(std::string_view bytes) { return socket_.send(bytes); }
    /// A whole answer with a Content-Length.
    bool answer(std::string_view body, std::string_view status = "200 OK",
                std::string_view fields = {});
    std::size_t send_until_stuck(std::string_view piece, std::size_t times,
                                 std::chrono::milliseconds patience) {
        return socket_.send_until_stuck(piece, times, patience);
    }
    /// What comes next, apart from requests: after a switch of protocols.
    ReadEnd receive(std::string& out, std::chrono::milliseconds patience = kPatience) {
        return socket_.receive(out, patience);
    }
    void end() { socket_.end_sending(); }
    /// With TLS: ends the connection without saying so in TLS.
    void cut() { ::shutdown(socket_.descriptor(), SHUT_WR); }
    void reset() {
        const std::lock_guard lock(closing_);
        socket_.reset();
    }
    /// Waits until the router is gone from this connection; false when it stays.
    bool wait_until_left();

  private:
    Socket& socket_;
    std::mutex& closing_;  // others end the socket too
};

/// A scripted inference server: real sockets, one blocking thread per connection. The script is
/// called for each request, on its connection's thread; when it returns, the connection is kept
/// for the next request unless the script ended or reset it. Health probes and scrapes are
/// answered apart (200 for /health, 404 for the rest, unless said otherwise) and never reach the
/// script.
class FakeBackend {
  public:
    using Script = std::function<void(BackendLine& line, const BackendRequest& request)>;

    /// HeadsOnly: the script is called as soon as the head is there, with what of the body came
    /// with it; the rest is left unread, and the connection ends with the script.
    enum class Reads : std::uint8_t { WholeRequests, HeadsOnly };
    enum class Where : std::uint8_t { Ipv4, Ipv6, UnixPath };

    /// Without a script, each request is answered by "ok".
    explicit FakeBackend(Script script = {}, Reads reads = Reads::WholeRequests,
                         Where where = Where::Ipv4);
    ~FakeBackend();
    FakeBackend(const FakeBackend&) = delete;
    FakeBackend& operator=(const FakeBackend&) = delete;

    /// Before the router knows of it. Connections that do not get through the handshake end.
    void speak_tls(std::shared_ptr<ssl_ctx_st> context);
    /// Of the connections that got through it, those that resumed a session.
    std::size_t resumed_sessions() const;
    /// The names that the others asked for.
    std::vector<std::string> server_names() const;

    std::uint16_t port() const { return address_.port(); }
    std::string url() const;

    /// How probes and scrapes of `path` are answered from now on, such as "503 Service
    /// Unavailable".
    void answer_probes(const std::string& path, const std::string& status,
                       const std::string& body = {});
    /// True once `path` was probed `count` times.
    bool wait_for_probes(const std::string& path, std::size_t count) const;

    /// The paths of all probes and scrapes so far, in the order in which they came.
    std::vector<std::string> probed() const;

    /// Those that the script was called for, so far.
    std::vector<BackendRequest> requests() const;
    /// True once `count` have come.
    bool wait_for_requests(std::size_t count) const;

    /// Ends every connection; from now on connecting is refused.
    void refuse();
    /// Listens at the same address again. After refuse(), once, not on a Unix path.
    void come_back();
    /// From now on connecting neither succeeds nor fails: the backlog is full.
    void turn_deaf();

  private:
    struct Connection {
        Socket socket;
        std::thread thread;
    };

    void begin_accepting();
    void accept_all();
    void serve(Socket& socket);
    bool secure(Socket& socket);
    bool answer_probe(BackendLine& line, const BackendRequest& request);
    void record(const BackendRequest& request);
    void stop_accepting();

    Script script_;
    Reads reads_;
    Socket listener_;
    SocketAddress address_;
    Socket spare_;  // holds the port, to come back to
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::vector<BackendRequest> requests_;
    struct Probe {
        std::string status = "404 Not Found";
        std::string body;
        std::size_t count = 0;
    };
    std::map<std::string, Probe, std::less<>> probes_;
    std::vector<std::string> probed_;
    std::size_t next_connection_ = 0;
    std::shared_ptr<ssl_ctx_st> tls_;
    std::size_t resumed_sessions_ = 0;
    std::vector<std::string> server_names_;
    bool accepts_ = true;
    std::vector<Socket> fillers_;  // of the backlog
    std::list<Connection> connections_;
    std::thread acceptor_;
};

}  // namespace prefix_router::testing
