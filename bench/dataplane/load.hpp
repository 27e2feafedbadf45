#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "prefix_router/base/clock.hpp"

#include "dataplane/answer_check.hpp"
#include "dataplane/exchange_texts.hpp"
#include "dataplane/socket.hpp"

namespace prefix_router::dataplane {

struct LoadOptions {
    std::uint16_t port = 0;
    std::size_t connections = 64;
    std::size_t body_bytes = 2048;
    Wish wish;
    double seconds = 1;
    double rate = 0;         ///< requests per second, open loop; 0: each answer brings the next
    bool closes = false;     ///< a new connection for each request
    bool is_single = false;  ///< one request per connection, then it stays open and idle
    std::size_t models = 0;  ///< asked in turn: bench-0, bench-1 and so on; 0: the model bench
    bool is_fresh = false;   ///< no body is sent twice, nor by another run with another first_seed
    std::uint64_t first_seed = 0;
};

struct LoadReport {
    std::uint64_t requests = 0;
    std::uint64_t errors = 0;
    std::string first_error;
    double seconds = 0;
    std::vector<std::uint64_t> latencies;  ///< nanoseconds since a request was due
    std::vector<std::uint64_t> delays;     ///< of events, since the backend sent them
    std::vector<std::uint64_t> lags;  ///< since a request was due until this client looked at it
};

/// Sends requests and checks every answer. In the open loop a request's time begins when it is due,
/// whether or not a connection is free for it then: a proxy that stalls is charged for all who
/// wait.
class Load {
  public:
    explicit Load(const LoadOptions& options);
    LoadReport run();

  private:
    struct Request {
        std::string head;
        std::string body;
        std::uint64_t hash = 0;
    };
    struct Connection {
        Socket socket;
        Request fresh;
        AnswerCheck check;
        std::string_view unsent_head;
        std::string_view unsent_body;
        std::uint64_t due = 0;
        bool is_busy = false;
        bool had_answer = false;
    };

    Request make_request(std::uint64_t seed) const;
    void begin_what_is_due();
    bool has_ended() const;
    Connection& take_idle();
    void begin(Connection& connection, std::uint64_t due);
    void send(Connection& connection);
    void receive(Connection& connection);
    void settle(Connection& connection, AnswerCheck::State state);
    void say_when_ready();
    std::uint64_t now() const {
        return static_cast<std::uint64_t>(clock_.now().time_since_epoch().count());
    }

    LoadOptions options_;
    SteadyClock clock_;
    Readiness readiness_;
    std::vector<Request> requests_;
    std::vector<std::unique_ptr<Connection>> connections_;
    std::vector<Connection*> idle_;
    std::deque<std::uint64_t> waiting_;  // when those were due that no connection was free for
    std::uint64_t begun_ = 0;
    std::uint64_t end_ = 0;
    std::uint64_t scheduled_ = 0;
    std::size_t started_ = 0;
    std::size_t busy_ = 0;
    std::size_t without_answer_ = 0;
    bool is_ready_ = false;
    LoadReport report_;
    std::unique_ptr<char[]> room_;
};

}  // namespace prefix_router::dataplane
