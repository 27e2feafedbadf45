#include "prefix_router/net/stream.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "prefix_router/net/descriptor.hpp"
#include "prefix_router/net/worker.hpp"

#include "net/loop.hpp"
#include "net/socket_set.hpp"
#include "net/tls_session.hpp"

namespace prefix_router::net {
namespace {

bool would_block(int error) {
    return error == EAGAIN || error == EWOULDBLOCK;
}

/// A head and a short body take the kernel less time in one piece than their copy does.
constexpr std::size_t kGathered = std::size_t{4} << 10;

std::string_view gather(const Pieces& pieces, std::span<char, kGathered> room) {
    std::size_t size = 0;
    for (const iovec& piece : pieces.vectors()) {
        std::memcpy(room.data() + size, piece.iov_base, piece.iov_len);
        size += piece.iov_len;
    }
    return {room.data(), size};
}

ssize_t send_pieces(int descriptor, const Pieces& pieces) {
    const auto vectors = pieces.vectors();
    ssize_t count = 0;
    do {
        if (vectors.size() == 1) {
            count = ::send(descriptor, vectors[0].iov_base, vectors[0].iov_len, MSG_NOSIGNAL);
        } else if (pieces.left() <= kGathered) {
            std::array<char, kGathered> room;
            const std::string_view all = gather(pieces, room);
            count = ::send(descriptor, all.data(), all.size(), MSG_NOSIGNAL);
        } else {
            msghdr message{};
            message.msg_iov = const_cast<iovec*>(vectors.data());
            message.msg_iovlen = vectors.size();
            count = ::sendmsg(descriptor, &message, MSG_NOSIGNAL);
        }
    } while (count < 0 && errno == EINTR);
    return count;
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

/// What is known of the socket without asking it: the set tells of changes, and a read or a write
/// that found its end says that there is nothing left to do until the next.
class Stream::State final : public SocketSet::Member {
  public:
    State(Worker& worker, int descriptor)
        : Member(worker.loop().sockets, descriptor), descriptor_(descriptor) {}

    int descriptor() const { return descriptor_; }
    void listen(StreamListener* listener) { listener_ = listener; }

    void watch_read() {
        wants_read_ = true;
        know();
        if (may_read_ || is_lost()) {
            tell_again();
        }
    }
    void watch_write() {
        wants_write_ = true;
        know();
        tell_writable();
        if (may_write_ || is_lost()) {
            tell_again();
        }
    }
    /// From here on the set tells of it, first of what is there.
    void know() {
        if (!is_registered()) {
            may_read_ = tls_ != nullptr;  // of what a session holds the set tells nothing
            tell_readable();
        }
    }

    /// Nothing is there to read; the set tells of the next.
    void drained() { may_read_ = false; }
    /// No room is there to write; the set tells of the next.
    void filled() { may_write_ = false; }
    /// More may be there than the set tells of.
    void doubt() { may_read_ = true; }

    bool has_ended() const { return has_ended_; }
    bool is_drained() const { return !may_read_; }
    using Member::is_lost;

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
        if (descriptor_ >= 0) {
            ::close(std::exchange(descriptor_, -1));
        }
    }

    int release() {
        listener_ = nullptr;
        leave();
        return std::exchange(descriptor_, -1);
    }

  private:
    ~State() override = default;

    void on_events(std::uint32_t events) override {
        const bool is_over = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
        // With TLS a read can wait for room to write, and a write for bytes.
        const bool is_either = tls_ != nullptr && events != 0;
        has_ended_ |= is_over;
        may_read_ |= is_over || is_either || (events & EPOLLIN) != 0;
        may_write_ |= is_either || (events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0;
        if ((may_read_ || is_lost()) && std::exchange(wants_read_, false) && listener_ != nullptr) {
            listener_->on_readable();
        }
        if ((may_write_ || is_lost()) && std::exchange(wants_write_, false) &&
            listener_ != nullptr) {
            listener_->on_writable();
        }
    }

    std::unique_ptr<TlsSession> tls_;
    StreamListener* listener_ = nullptr;
    int descriptor_;
    bool may_read_ = true;  // nobody has looked
    bool may_write_ = false;
    bool has_ended_ = false;
    bool wants_read_ = false;
    bool wants_write_ = false;
};

void Stream::StateReleaser::operator()(State* state) const {
    state->close();
    state->retire();
}

Stream::Stream() = default;
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;
Stream::~Stream() = default;

Stream::Stream(Worker& worker, int descriptor) {
    Descriptor owned(descriptor);  // should there be no memory
    state_.reset(new State(worker, descriptor));
    owned.release();
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
    if (state_->is_lost()) [[unlikely]] {
        return {IoStatus::Failed, 0};
    }
    if (TlsSession* const tls = state_->tls()) [[unlikely]] {
        const IoResult got = tls->read(room);
        // What the session took off the socket the set does not tell of.
        got.status == IoStatus::WouldBlock ? state_->drained() : state_->doubt();
        return got;
    }
    ssize_t count = 0;
    do {
        count = ::recv(descriptor(), room.data(), room.size(), 0);
    } while (count < 0 && errno == EINTR);
    if (count > 0) {
        const auto bytes = static_cast<std::size_t>(count);
        if (bytes < room.size() && !state_->has_ended()) {
            state_->drained();
        }
        return {IoStatus::Done, bytes};
    }
    if (count == 0) {
        return {IoStatus::Ended, 0};
    }
    if (would_block(errno)) {
        state_->drained();
        return {IoStatus::WouldBlock, 0};
    }
    return {IoStatus::Failed, 0};
}

IoResult Stream::write_some(Pieces& pieces) {
    if (state_->is_lost()) [[unlikely]] {
        return {IoStatus::Failed, 0};
    }
    if (TlsSession* const tls = state_->tls()) [[unlikely]] {
        const IoResult sent = tls->write(pieces);
        if (!pieces.empty()) {
            state_->filled();
        }
        return sent;
    }
    const ssize_t count = send_pieces(descriptor(), pieces);
    if (count < 0 && !would_block(errno)) {
        return {IoStatus::Failed, 0};
    }
    pieces.consume(static_cast<std::size_t>(std::max<ssize_t>(0, count)));
    if (!pieces.empty()) {
        state_->filled();
    }
    if (count < 0) {
        return {IoStatus::WouldBlock, 0};
    }
    return {IoStatus::Done, static_cast<std::size_t>(count)};
}

int Stream::accept(sockaddr_storage& peer, socklen_t& size) {
    const int accepted = ::accept4(descriptor(), reinterpret_cast<sockaddr*>(&peer), &size,
                                   SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (accepted < 0 && would_block(errno)) {
        state_->drained();
    }
    return accepted;
}

bool Stream::has_peer_left() const {
    state_->know();
    if (state_->has_ended()) {
        return true;
    }
    if (state_->tls() == nullptr) {
        return false;
    }
    state_->doubt();  // looking takes bytes off the socket
    return state_->tls()->has_peer_ended();
}

std::optional<char> Stream::peek() const {
    char byte = 0;
    return ::recv(descriptor(), &byte, 1, MSG_PEEK) == 1 ? std::optional(byte) : std::nullopt;
}

bool Stream::is_drained() const {
    return state_->is_drained();
}

bool Stream::is_quiet() const {
    if (state_->tls() != nullptr) {
        const bool is_quiet = state_->tls()->is_quiet();
        is_quiet ? state_->drained() : state_->doubt();
        return is_quiet;
    }
    char byte = 0;
    const ssize_t count = ::recv(descriptor(), &byte, 1, MSG_PEEK);
    const bool is_empty = count < 0 && would_block(errno);
    if (is_empty) {
        state_->drained();
    }
    return is_empty;
}

void Stream::secure(std::shared_ptr<const TlsServer> server) {
    state_->secure(std::make_unique<TlsSession>(std::move(server), state_->descriptor()));
}
void Stream::secure(std::shared_ptr<TlsClient> client) {
    state_->secure(std::make_unique<TlsSession>(std::move(client), state_->descriptor()));
}
IoStatus Stream::handshake() {
    const IoStatus status = state_->tls()->handshake();
    if (status == IoStatus::WouldBlock) {
        state_->drained();
        state_->filled();
    } else {
        state_->doubt();  // a request may have come with the last flight
    }
    return status;
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
