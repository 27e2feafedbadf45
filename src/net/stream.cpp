#include "prefix_router/net/stream.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include "prefix_router/net/worker.hpp"

#include "net/loop.hpp"

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
    void watch_read() { watch(StreamSocket::wait_read, watches_read_); }
    void watch_write() { watch(StreamSocket::wait_write, watches_write_); }

    void close() {
        listener_ = nullptr;
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
    void ready(StreamSocket::wait_type what, const boost::system::error_code& error) {
        const bool is_read = what == StreamSocket::wait_read;
        (is_read ? watches_read_ : watches_write_) = false;
        if (listener_ == nullptr || error == boost::asio::error::operation_aborted) {
            return;
        }
        is_read ? listener_->on_readable() : listener_->on_writable();
    }

    StreamSocket socket_;
    StreamListener* listener_ = nullptr;
    int descriptor_ = -1;
    bool watches_read_ = false;
    bool watches_write_ = false;
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
    return ::poll(&entry, 1, 0) > 0 &&
           (entry.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
}

bool Stream::is_quiet() const {
    char byte = 0;
    const ssize_t count = ::recv(descriptor(), &byte, 1, MSG_PEEK);
    return count < 0 && would_block(errno);
}

int Stream::connect_error() const {
    int error = 0;
    socklen_t size = sizeof error;
    if (::getsockopt(descriptor(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) {
        return errno;
    }
    return error;
}

void Stream::shutdown_send() {
    ::shutdown(descriptor(), SHUT_WR);
}

void Stream::reset() {
    if (state_) {
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
