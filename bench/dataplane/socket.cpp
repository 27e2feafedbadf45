#include "dataplane/socket.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <utility>

namespace prefix_router::dataplane {
namespace {

constexpr int kBacklog = 4096;
std::array<epoll_event, 256> events;

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

void enable(int descriptor, int level, int option) {
    const int on = 1;
    ::setsockopt(descriptor, level, option, &on, sizeof on);
}

}  // namespace

Socket::Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Socket& Socket::operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
}

void Socket::close() {
    if (is_open()) {
        ::close(std::exchange(descriptor_, -1));
    }
}

std::ptrdiff_t Socket::read(char* to, std::size_t size) {
    return ::recv(descriptor_, to, size, 0);
}

std::ptrdiff_t Socket::write(std::string_view bytes) {
    return ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

Socket listen_on(std::uint16_t& port) {
    Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    enable(socket.descriptor(), SOL_SOCKET, SO_REUSEADDR);
    enable(socket.descriptor(), IPPROTO_TCP, TCP_NODELAY);
    sockaddr_in address = loopback(port);
    socklen_t size = sizeof address;
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket.descriptor(), plain, size) != 0 ||
        ::listen(socket.descriptor(), kBacklog) != 0 ||
        ::getsockname(socket.descriptor(), plain, &size) != 0) {
        return {};
    }
    port = ntohs(address.sin_port);
    return socket;
}

Socket accept_from(Socket& listener) {
    return Socket(::accept4(listener.descriptor(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

Socket connect_to(std::uint16_t port) {
    Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    enable(socket.descriptor(), IPPROTO_TCP, TCP_NODELAY);
    const sockaddr_in address = loopback(port);
    if (::connect(socket.descriptor(), reinterpret_cast<const sockaddr*>(&address),
                  sizeof address) != 0 &&
        errno != EINPROGRESS) {
        return {};
    }
    return socket;
}

bool is_broken() {
    return errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR && errno != ENOTCONN;
}

Readiness::Readiness() : set_(::epoll_create1(EPOLL_CLOEXEC)) {}

void Readiness::add(Socket& socket, void* owner) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
    event.data.ptr = owner;
    ::epoll_ctl(set_.descriptor(), EPOLL_CTL_ADD, socket.descriptor(), &event);
}

int Readiness::wait_for_events(std::int64_t nanoseconds) {
    const timespec limit{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
    return ::epoll_pwait2(set_.descriptor(), events.data(), static_cast<int>(events.size()), &limit,
                          nullptr);
}

void* Readiness::owner_of(int index) {
    return events[static_cast<std::size_t>(index)].data.ptr;
}

}  // namespace prefix_router::dataplane
