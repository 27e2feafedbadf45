#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "integration/support/socket_address.hpp"

struct ssl_st;
struct ssl_ctx_st;
struct ssl_session_st;

/// Plain sockets on loopback for tests: the other side of the router, written without its code.
namespace prefix_router::testing {

/// How long anything may take before a test gives up. Nothing waits this long when all is well.
inline constexpr std::chrono::milliseconds kPatience{10'000};

enum class ReadEnd : std::uint8_t {
    Data,      ///< bytes came
    Ended,     ///< the other side ended its sending half in order (FIN)
    Reset,     ///< the other side broke the connection (RST)
    Cut,       ///< TLS: the connection ended without the message that ends it
    TimedOut,  ///< nothing came within the patience
};

/// One connection; move-only, closed at its end.
class Socket {
  public:
    Socket() = default;
    explicit Socket(int descriptor) : descriptor_(descriptor) {}
    ~Socket() { close(); }
    Socket(Socket&& other) noexcept;
    Socket& operator=(Socket&& other) noexcept;
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;

    /// Not open when nobody listens there.
    static Socket connect_to(const SocketAddress& address);
    static Socket connect_to(std::uint16_t port) { return connect_to(SocketAddress::ipv4(port)); }
    /// Does not wait for the outcome.
    static Socket begin_connecting_to(const SocketAddress& address);
    /// Not listening: connecting there is refused. Port 0 takes a free one; another socket of the
    /// test may be bound to it as well, and holds it when this one goes.
    static Socket bind_to(const SocketAddress& address);

    /// From here on everything is sent and received by TLS; the handshake is done when it returns.
    /// False when it failed. `server_name` is asked for where it is not empty, `session` resumed.
    bool secure_as_client(ssl_ctx_st* context, const std::string& server_name = {},
                          ssl_session_st* session = nullptr);
    bool secure_as_server(ssl_ctx_st* context);
    /// Null without TLS.
    ssl_st* tls() const { return tls_.get(); }

    bool is_open() const { return descriptor_ >= 0; }
    int descriptor() const { return descriptor_; }
    SocketAddress local_address() const { return SocketAddress::of(descriptor_); }

    /// Sends all; false when the other side is gone or takes nothing within the patience.
    bool send(std::string_view bytes) const;
    /// Sends as much as is taken without waiting; returns how much. For a peer that does not read.
    std::size_t send_until_full(std::string_view bytes) const;
    /// Sends `piece` again and again, at most `times`, until nothing is taken for `patience`;
    /// returns how many bytes were.
    std::size_t send_until_stuck(std::string_view piece, std::size_t times,
                                 std::chrono::milliseconds patience) const;
    /// Appends what comes first to `out`.
    ReadEnd receive(std::string& out, std::chrono::milliseconds patience = kPatience) const;
    /// Reads on until the other side is done, one way or the other; what comes is appended.
    ReadEnd receive_to_end(std::string& out) const;

    void end_sending() const;  ///< FIN; with TLS, its own message and then FIN
    /// TLS: the message that ends it alone, without FIN.
    void say_end() const;
    void reset();  ///< RST, whatever is unsent or unread
    void close();
    /// Ends both directions without giving up the descriptor: wakes a thread that waits on it.
    void shut_down() const;

  private:
    bool shake_hands();
    ReadEnd receive_secured(std::string& out, std::chrono::milliseconds patience) const;

    int descriptor_ = -1;
    std::shared_ptr<ssl_st> tls_;
};

}  // namespace prefix_router::testing
