#include "app/local_message.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace prefix_router::app {
namespace {

constexpr std::size_t kTextRoom = 256;
constexpr std::size_t kControlRoom = CMSG_SPACE(kDescriptorsPerMessage * sizeof(int));

Error system_error(const std::string& what) {
    return Error(ErrorKind::Io, what + ": " + std::strerror(errno));
}

/// A message's memory: one piece of text, one array of descriptors.
struct Frame {
    explicit Frame(char* text, std::size_t size) : piece{text, size} {
        header.msg_iov = &piece;
        header.msg_iovlen = 1;
    }

    iovec piece;
    msghdr header{};
    alignas(cmsghdr) std::array<char, kControlRoom> control{};
};

void attach(Frame& frame, const std::vector<net::Descriptor>& descriptors) {
    const std::size_t size = descriptors.size() * sizeof(int);
    frame.header.msg_control = frame.control.data();
    frame.header.msg_controllen = CMSG_SPACE(size);
    cmsghdr* const rights = CMSG_FIRSTHDR(&frame.header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(size);
    std::vector<int> numbers;
    numbers.reserve(descriptors.size());
    for (const auto& descriptor : descriptors) {
        numbers.push_back(descriptor.number());
    }
    std::memcpy(CMSG_DATA(rights), numbers.data(), size);
}

std::vector<net::Descriptor> detach(msghdr& header) {
    std::vector<net::Descriptor> descriptors;
    for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr;
         part = CMSG_NXTHDR(&header, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) {
            continue;
        }
        const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int number = -1;
            std::memcpy(&number, CMSG_DATA(part) + i * sizeof number, sizeof number);
            descriptors.emplace_back(number);
        }
    }
    return descriptors;
}

Result<void> wait_until_readable(const net::Descriptor& socket, std::chrono::milliseconds patience,
                                 const net::Descriptor& interrupt) {
    std::array<pollfd, 2> entries{pollfd{socket.number(), POLLIN, 0},
                                  pollfd{interrupt.number(), POLLIN, 0}};  // -1 is left out
    int ready = 0;
    do {
        ready = ::poll(entries.data(), entries.size(), static_cast<int>(patience.count()));
    } while (ready < 0 && errno == EINTR);
    if (ready < 0) {
        return system_error("cannot wait for a message");
    }
    if (ready == 0) {
        return Error(ErrorKind::FirstByteTimeout, "the other process says nothing");
    }
    if (entries[1].revents != 0) {
        return Error(ErrorKind::Draining, "this process ends");
    }
    return boost::system::in_place_value;
}

}  // namespace

Result<net::Descriptor> local_socket() {
    net::Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (!socket.is_open()) {
        return system_error("cannot make a Unix socket");
    }
    return socket;
}

Result<void> send_message(const net::Descriptor& socket, std::string_view text,
                          const std::vector<net::Descriptor>& descriptors) {
    Frame frame(const_cast<char*>(text.data()), text.size());
    if (!descriptors.empty()) {
        attach(frame, descriptors);
    }
    ssize_t sent = 0;
    do {
        sent = ::sendmsg(socket.number(), &frame.header, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    if (sent < 0) {
        return system_error("cannot send to the other process");
    }
    return boost::system::in_place_value;
}

Result<LocalMessage> receive_message(const net::Descriptor& socket,
                                     std::chrono::milliseconds patience,
                                     const net::Descriptor& interrupt) {
    if (const auto readable = wait_until_readable(socket, patience, interrupt); !readable) {
        return readable.error();
    }
    std::array<char, kTextRoom> text{};
    Frame frame(text.data(), text.size());
    frame.header.msg_control = frame.control.data();
    frame.header.msg_controllen = frame.control.size();
    ssize_t size = 0;
    do {
        size = ::recvmsg(socket.number(), &frame.header, MSG_CMSG_CLOEXEC);
    } while (size < 0 && errno == EINTR);
    if (size < 0 && errno != ECONNRESET) {
        return system_error("cannot read from the other process");
    }
    if (size <= 0) {
        return Error(ErrorKind::ResetBeforeResponse, "the other process is gone");
    }
    LocalMessage message{std::string(text.data(), static_cast<std::size_t>(size)),
                         detach(frame.header)};
    if ((frame.header.msg_flags & MSG_CTRUNC) != 0) {
        return Error(ErrorKind::Io, "descriptors were lost: this process may not have enough");
    }
    return message;
}

std::optional<pid_t> peer_of_same_user(const net::Descriptor& socket) {
    ucred peer{};
    socklen_t size = sizeof peer;
    const int known = ::getsockopt(socket.number(), SOL_SOCKET, SO_PEERCRED, &peer, &size);
    return known == 0 && peer.uid == ::geteuid() ? std::optional(peer.pid) : std::nullopt;
}

}  // namespace prefix_router::app
