#include "prefix_router/net/stream.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include "prefix_router/net/worker.hpp"

#include "net/loop.hpp"
#include "net/tls_session.hpp"

namespace prefix_router::net {
namespace {

using boost::asio::generic::stream_protocol;

bool would_block(int error) {
    return error == EAGAIN || error == EWOULDBLOCK;
}

}  // namespace

void Pieces::add(std::string_view piece) {
    if (piece.empty()) {
        return;
    }
    vectors_[count_++] = iovec{const_cast<char*>(piece.data()), piece.size()};
    left_ += piece.size();
}

void Pieces::consume(std::size_t bytes) {
    left_ -= bytes;
    while (bytes > 0) {
        iovec& front = vectors_[first_];
        if (bytes < front.iov_len) {
            front.iov_base = static_cast<char*>(front.iov_base) + bytes;
            front.iov_len -= bytes;
            return;
        }
        bytes -= front.iov_len;
        ++first_;
    }
}

/// Lives on while a watch is pending: Asio completes it, as aborted, after the socket is closed.
class Stream::State : public boost::intrusive_ref_counter<State, boost::thread_unsafe_counter> {
  public:
    State(Worker& worker, int descriptor) : socket_(worker.loop().context.get_executor()) {
        boost::system::error_code error;
        socket_.assign(stream_protocol(AF_INET, IPPROTO_TCP), descriptor, error);
        // Only a full disk of epoll registrations (max_user_watches) fails here: every watch then
        // fails at once and ends the connection.
        if (error) {
            descriptor_ = descriptor;
        } else {
            descriptor_ = socket_.native_handle();
            socket_.native_non_blocking(true, error);
        }
    }

    int descriptor() const { return descriptor_; }
    void listen(StreamListener* listener) { listener_ = listener; }

    void watch(StreamSocket::wait_type what, bool& is_watched) {
        if (is_watched) {
            return;
        }
        is_watched = true;
        boost::intrusive_ptr<State> self(this);
        socket_.async_wait(what, [self = std::move(self), what](boost::system::error_code error) {
            self->ready(what, error);
        });
    }
    void watch_read() {
        if (tls_) [[unlikely]] {
            watch_read_secured();
            return;
        }
        watch(StreamSocket::wait_read, watches_read_);
    }
    void watch_write() {
        if (tls_ && tls_->write_waits_for_read()) [[unlikely]] {
            watch_crossed(StreamSocket::wait_read, StreamSocket::wait_write);
        }
        watch(StreamSocket::wait_write, watches_write_);
    }

    TlsSession* tls() const { return tls_.get(); }
    void secure(std::unique_ptr<TlsSession> session) { tls_ = std::move(session); }
    /// The peer is not told that this is the end.
    void drop_tls() { tls_.reset(); }

    void close() {
        listener_ = nullptr;
        if (tls_) [[unlikely]] {
            tls_->end_sending();
            tls_.reset();
        }
        boost::system::error_code error;
        if (socket_.is_open()) {
            socket_.close(error);
        } else if (descriptor_ >= 0) {
            ::close(descriptor_);
        }
        descriptor_ = -1;
    }

    int release() {
        listener_ = nullptr;
        boost::system::error_code error;
        if (socket_.is_open()) {
            socket_.release(error);
        }
        return std::exchange(descriptor_, -1);
    }

  private:
    /// What the session holds the socket does not tell of.
    void watch_read_secured() {
        if (tls_->read_waits_for_write()) {
            watch_crossed(StreamSocket::wait_write, StreamSocket::wait_read);
        }
        if (!tls_->has_pending()) {
            watch(StreamSocket::wait_read, watches_read_);
        } else if (!tells_pending_) {
            tells_pending_ = true;
            boost::intrusive_ptr<State> self(this);
            boost::asio::post(socket_.get_executor(), [self = std::move(self)] {
                self->tells_pending_ = false;
                if (self->listener_ != nullptr) {
                    self->listener_->on_readable();
                }
            });
        }
    }

    /// A read that waits for room to write, or a write that waits for bytes.
    void watch_crossed(StreamSocket::wait_type awaited, StreamSocket::wait_type told) {
        boost::intrusive_ptr<State> self(this);
        socket_.async_wait(
            awaited, [self = std::move(self), told](boost::system::error_code error) {
                if (self->listener_ != nullptr && error != boost::asio::error::operation_aborted) {
                    told == StreamSocket::wait_read ? self->listener_->on_readable()
                                                    : self->listener_->on_writable();
                }
            });
    }

    void ready(StreamSocket::wait_type what, const boost::system::error_code& error) {
        const bool is_read = what == StreamSocket::wait_read;
        (is_read ? watches_read_ : watches_write_) = false;
        if (listener_ == nullptr || error == boost::asio::error::operation_aborted) {
            return;
        }
        is_read ? listener_->on_readable() : listener_->on_writable();
    }

    StreamSocket socket_;
    std::unique_ptr<TlsSession> tls_;
    StreamListener* listener_ = nullptr;
    int descriptor_ = -1;
    bool watches_read_ = false;
    bool watches_write_ = false;
    bool tells_pending_ = false;
};

void Stream::StateReleaser::operator()(State* state) const {
    state->close();
    intrusive_ptr_release(state);
}

Stream::Stream() = default;
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;
Stream::~Stream() = default;

Stream::Stream(Worker& worker, int descriptor) : state_(new State(worker, descriptor)) {
    intrusive_ptr_add_ref(state_.get());
}

int Stream::descriptor() const {
    return state_ ? state_->descriptor() : -1;
}
void Stream::listen(StreamListener* listener) {
    state_->listen(listener);
}
void Stream::watch_read() {
    state_->watch_read();
}
void Stream::watch_write() {
    state_->watch_write();
}

IoResult Stream::read_some(std::span<char> room) {
    if (TlsSession* const tls = state_->tls()) [[unlikely]] {
        return tls->read(room);
    }
    ssize_t count = 0;
    do {
        count = ::recv(descriptor(), room.data(), room.size(), 0);
    } while (count < 0 && errno == EINTR);
    if (count > 0) {
        return {IoStatus::Done, static_cast<std::size_t>(count)};
    }
    if (count == 0) {
        return {IoStatus::Ended, 0};
    }
    return {would_block(errno) ? IoStatus::WouldBlock : IoStatus::Failed, 0};
}

IoResult Stream::write_some(Pieces& pieces) {
    if (TlsSession* const tls = state_->tls()) [[unlikely]] {
        return tls->write(pieces);
    }
    const auto vectors = pieces.vectors();
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(vectors.data());
    message.msg_iovlen = vectors.size();
    ssize_t count = 0;
    do {
        count = ::sendmsg(descriptor(), &message, MSG_NOSIGNAL);
    } while (count < 0 && errno == EINTR);
    if (count < 0) {
        return {would_block(errno) ? IoStatus::WouldBlock : IoStatus::Failed, 0};
    }
    pieces.consume(static_cast<std::size_t>(count));
    return {IoStatus::Done, static_cast<std::size_t>(count)};
}

bool Stream::has_peer_left() const {
    pollfd entry{descriptor(), POLLRDHUP, 0};
    if (::poll(&entry, 1, 0) > 0 &&
        (entry.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0) {
        return true;
    }
    return state_->tls() != nullptr && state_->tls()->has_peer_ended();
}

std::optional<char> Stream::peek() const {
    char byte = 0;
    return ::recv(descriptor(), &byte, 1, MSG_PEEK) == 1 ? std::optional(byte) : std::nullopt;
}

bool Stream::is_quiet() const {
    if (state_->tls() != nullptr) {
        return state_->tls()->is_quiet();
    }
    char byte = 0;
    const ssize_t count = ::recv(descriptor(), &byte, 1, MSG_PEEK);
    return count < 0 && would_block(errno);
}

void Stream::secure(std::shared_ptr<const TlsServer> server) {
    state_->secure(std::make_unique<TlsSession>(std::move(server), descriptor()));
}
void Stream::secure(std::shared_ptr<TlsClient> client) {
    state_->secure(std::make_unique<TlsSession>(std::move(client), descriptor()));
}
IoStatus Stream::handshake() {
    return state_->tls()->handshake();
}
const Error& Stream::handshake_failure() const {
    return state_->tls()->failure();
}
bool Stream::is_secured() const {
    return state_ && state_->tls() != nullptr;
}
bool Stream::is_resumed() const {
    return state_->tls()->is_resumed();
}

int Stream::connect_error() const {
    int error = 0;
    socklen_t size = sizeof error;
    if (::getsockopt(descriptor(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) {
        return errno;
    }
    return error;
}

IoStatus Stream::shutdown_send() {
    if (state_->tls() != nullptr && state_->tls()->end_sending() == IoStatus::WouldBlock) {
        return IoStatus::WouldBlock;
    }
    ::shutdown(descriptor(), SHUT_WR);
    return IoStatus::Done;
}

void Stream::reset() {
    if (state_) {
        state_->drop_tls();
        const linger abort{1, 0};
        ::setsockopt(descriptor(), SOL_SOCKET, SO_LINGER, &abort, sizeof abort);
        close();
    }
}

void Stream::close() {
    state_.reset();
}
int Stream::release() {
    const int descriptor = state_ ? state_->release() : -1;
    state_.reset();
    return descriptor;
}

}  // namespace prefix_router::net
