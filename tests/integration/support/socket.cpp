#include "integration/support/socket.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include <openssl/err.h>
#include <openssl/ssl.h>

namespace prefix_router::testing {
namespace {

bool wait_for(int descriptor, short events, std::chrono::milliseconds patience) {
    pollfd entry{descriptor, events, 0};
    return ::poll(&entry, 1, static_cast<int>(patience.count())) > 0;
}

}  // namespace

Socket::Socket(Socket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), tls_(std::move(other.tls_)) {}

Socket& Socket::operator=(Socket&& other) noexcept {
    if (this != &other) {
        close();
        descriptor_ = std::exchange(other.descriptor_, -1);
        tls_ = std::move(other.tls_);
    }
    return *this;
}

Socket Socket::connect_to(const SocketAddress& address) {
    Socket socket(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(socket.descriptor_, address.raw(), address.size) != 0) {
        socket.close();
    }
    return socket;
}

Socket Socket::begin_connecting_to(const SocketAddress& address) {
    Socket socket(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    ::connect(socket.descriptor_, address.raw(), address.size);
    return socket;
}

Socket Socket::bind_to(const SocketAddress& address) {
    Socket socket(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int yes = 1;
    ::setsockopt(socket.descriptor_, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof(yes));
    if (::bind(socket.descriptor_, address.raw(), address.size) != 0) {
        socket.close();
    }
    return socket;
}

bool Socket::secure_as_client(ssl_ctx_st* context, const std::string& server_name,
                              ssl_session_st* session) {
    tls_.reset(SSL_new(context), SSL_free);
    if (!server_name.empty()) {
        SSL_ctrl(tls_.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                 const_cast<char*>(server_name.c_str()));
    }
    if (session != nullptr) {
        SSL_set_session(tls_.get(), session);
    }
    SSL_set_connect_state(tls_.get());
    return shake_hands();
}

bool Socket::secure_as_server(ssl_ctx_st* context) {
    tls_.reset(SSL_new(context), SSL_free);
    SSL_set_accept_state(tls_.get());
    return shake_hands();
}

bool Socket::shake_hands() {
    ERR_clear_error();
    SSL_set_fd(tls_.get(), descriptor_);
    SSL_clear_mode(tls_.get(), SSL_MODE_AUTO_RETRY);  // a session ticket is no reason to block
    return SSL_do_handshake(tls_.get()) == 1;
}

void Socket::say_end() const {
    ERR_clear_error();
    SSL_shutdown(tls_.get());
}

bool Socket::send(std::string_view bytes) const {
    if (tls_) {
        ERR_clear_error();
        std::size_t sent = 0;
        return bytes.empty() || SSL_write_ex(tls_.get(), bytes.data(), bytes.size(), &sent) == 1;
    }
    while (!bytes.empty()) {
        if (!is_open() || !wait_for(descriptor_, POLLOUT, kPatience)) {
            return false;
        }
        const ssize_t sent =
            ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno != EAGAIN && errno != EINTR) {
            return false;
        }
        bytes.remove_prefix(sent > 0 ? static_cast<std::size_t>(sent) : 0);
    }
    return true;
}

std::size_t Socket::send_until_full(std::string_view bytes) const {
    std::size_t total = 0;
    while (total < bytes.size()) {
        const ssize_t sent = ::send(descriptor_, bytes.data() + total, bytes.size() - total,
                                    MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent <= 0) {
            break;
        }
        total += static_cast<std::size_t>(sent);
    }
    return total;
}

std::size_t Socket::send_until_stuck(std::string_view piece, std::size_t times,
                                     std::chrono::milliseconds patience) const {
    std::size_t total = 0;
    while (total < piece.size() * times && wait_for(descriptor_, POLLOUT, patience)) {
        const std::size_t taken = send_until_full(piece);
        if (taken == 0) {
            break;  // broken
        }
        total += taken;
    }
    return total;
}

ReadEnd Socket::receive(std::string& out, std::chrono::milliseconds patience) const {
    if (!is_open()) {
        return ReadEnd::Reset;
    }
    if (tls_) {
        return receive_secured(out, patience);
    }
    if (!wait_for(descriptor_, POLLIN, patience)) {
        return ReadEnd::TimedOut;
    }
    std::array<char, 65536> room;
    const ssize_t got = ::recv(descriptor_, room.data(), room.size(), 0);
    if (got > 0) {
        out.append(room.data(), static_cast<std::size_t>(got));
        return ReadEnd::Data;
    }
    return got == 0 ? ReadEnd::Ended : ReadEnd::Reset;
}

ReadEnd Socket::receive_secured(std::string& out, std::chrono::milliseconds patience) const {
    while (SSL_pending(tls_.get()) > 0 || wait_for(descriptor_, POLLIN, patience)) {
        std::array<char, 65536> room;
        std::size_t got = 0;
        ERR_clear_error();
        const int result = SSL_read_ex(tls_.get(), room.data(), room.size(), &got);
        out.append(room.data(), got);
        switch (SSL_get_error(tls_.get(), result)) {
            case SSL_ERROR_NONE:
                return ReadEnd::Data;
            case SSL_ERROR_WANT_READ:
                continue;
            case SSL_ERROR_ZERO_RETURN:
                return ReadEnd::Ended;
            default:
                return ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING
                           ? ReadEnd::Cut
                           : ReadEnd::Reset;
        }
    }
    return ReadEnd::TimedOut;
}

ReadEnd Socket::receive_to_end(std::string& out) const {
    ReadEnd end = receive(out);
    while (end == ReadEnd::Data) {
        end = receive(out);
    }
    return end;
}

void Socket::end_sending() const {
    if (tls_) {
        say_end();
    }
    ::shutdown(descriptor_, SHUT_WR);
}

void Socket::reset() {
    const linger now{1, 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    close();
}

void Socket::close() {
    tls_.reset();
    if (is_open()) {
        ::close(std::exchange(descriptor_, -1));
    }
}

void Socket::shut_down() const {
    ::shutdown(descriptor_, SHUT_RDWR);
}

}  // namespace prefix_router::testing
