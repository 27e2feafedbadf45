#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "prefix_router/base/error.hpp"
#include "prefix_router/http/request_head.hpp"
#include "prefix_router/net/endpoint.hpp"
#include "prefix_router/net/parker.hpp"
#include "prefix_router/net/stream.hpp"
#include "prefix_router/net/task.hpp"
#include "prefix_router/net/ticker.hpp"

#include "proxy/events.hpp"

namespace prefix_router::proxy {

class WorkerContext;

/// How a connection goes on after an exchange.
enum class Ending : unsigned char {
    KeepAlive,
    Close,
    Linger,  ///< close, after reading what the client still sends, so that it sees the answer
    Reset,   ///< the answer is incomplete and must look so
};

/// One client's connection: idle, then one exchange after the other. Small while idle: no buffer,
/// no exchange, one coroutine frame. Also the watch on the client while its request is worked on:
/// a client that closes, or ends its sending half, has left (kClientGone).
class ClientConnection final : public net::StreamListener, public net::Ticked {
  public:
    /// The connection's whole life; spawned by whoever accepted it.
    static net::Task<void> serve(WorkerContext& context, net::Stream stream, net::Endpoint peer);

    ClientConnection(WorkerContext& context, net::Stream stream, const net::Endpoint& peer);
    ~ClientConnection() override;

    net::Stream stream;
    net::Parker parker;
    /// Bytes received and not yet used: part of a head, or pipelined requests. Empty when idle.
    std::string received;
    const std::string peer;
    http::RequestHeadParser head_parser;
    std::size_t place = 0;  ///< in the context's list

    /// Until the next arm or disarm: kExpired after `timeout`, with what it means.
    void arm(std::chrono::milliseconds timeout, ErrorKind missed);
    void arm_total(std::chrono::milliseconds timeout);
    void disarm_phase();  ///< but not the total
    void disarm();
    ErrorKind missed() const { return missed_; }
    void wake_on_tick() { wants_tick_ = true; }

    /// While the request is complete and its answer is not: quick answers pay nothing, after a
    /// tick the socket is watched.
    void begin_watch();
    void end_watch();

    /// Makes `rest`, a tail of `received` or bytes elsewhere, all that is left.
    void keep(std::string_view rest);

    void on_readable() override;
    void on_writable() override { parker.signal(kClientWritable); }
    void on_tick(net::Tick now) override;

  private:
    net::Task<void> run();
    net::Task<net::Events> wait_for_bytes(std::chrono::milliseconds patience, ErrorKind missed);
    net::Task<void> linger();
    net::Task<void> end_sending();
    std::optional<std::string_view> first_bytes();

    // client_handshake.cpp
    net::Task<bool> secure();
    net::Task<void> refuse_plain(const Error& error);
    void tell_handshake_failure(const Error& error);

    WorkerContext& context_;
    net::Deadline deadline_;
    net::Deadline total_;
    net::Tick watching_since_ = 0;
    ErrorKind missed_ = ErrorKind::RequestHeaderTimeout;
    bool is_watching_ = false;
    bool has_pipelined_ = false;  // bytes hide an end of stream from a read: ask every tick
    bool wants_tick_ = false;
};

}  // namespace prefix_router::proxy
