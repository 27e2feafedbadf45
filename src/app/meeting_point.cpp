#include "app/meeting_point.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "prefix_router/base/contain.hpp"
#include "prefix_router/net/endpoint.hpp"

#include "app/local_message.hpp"
#include "app/take_over_words.hpp"

namespace prefix_router::app {
namespace {

constexpr int kBacklog = 8;
constexpr mode_t kOwnerOnly = 0600;

Error system_error(const std::string& path, const std::string& what) {
    return Error(ErrorKind::Io, "--take-over " + path + ": " + what + ": " + std::strerror(errno));
}

/// Listens beside `path` and moves there, so that whoever connects meets a socket that listens.
Result<net::Descriptor> listen_at(const std::string& path) {
    const std::string beside = path + "." + std::to_string(::getpid());
    const auto endpoint = net::Endpoint::from_unix_path(beside);
    if (!endpoint) {
        return Error(ErrorKind::Io, "--take-over " + path + ": " + endpoint.error().message());
    }
    auto socket = local_socket();
    if (!socket) {
        return socket.error();
    }
    ::unlink(beside.c_str());
    if (::bind(socket->number(), endpoint->address(), endpoint->size()) != 0) {
        return system_error(path, "cannot make the socket");
    }
    if (::chmod(beside.c_str(), kOwnerOnly) != 0 || ::listen(socket->number(), kBacklog) != 0 ||
        std::rename(beside.c_str(), path.c_str()) != 0) {
        auto error = system_error(path, "cannot make the socket");
        ::unlink(beside.c_str());
        return error;
    }
    return socket;
}

/// Some of `sockets`, from the end, as many as one message takes.
std::vector<net::Descriptor> take_some(std::vector<net::Descriptor>& sockets) {
    std::vector<net::Descriptor> some;
    while (!sockets.empty() && some.size() < kDescriptorsPerMessage) {
        some.push_back(std::move(sockets.back()));
        sockets.pop_back();
    }
    return some;
}

std::vector<net::Descriptor> alone(net::Descriptor descriptor) {
    std::vector<net::Descriptor> one;
    one.push_back(std::move(descriptor));
    return one;
}

}  // namespace

Result<std::unique_ptr<MeetingPoint>> MeetingPoint::open(std::string path,
                                                         net::Descriptor inherited,
                                                         Callbacks callbacks) {
    net::Descriptor listener = std::move(inherited);
    if (!listener.is_open()) {
        auto made = listen_at(path);
        if (!made) {
            return made.error();
        }
        listener = std::move(*made);
    }
    net::Descriptor stop(::eventfd(0, EFD_CLOEXEC));
    if (!stop.is_open()) {
        return system_error(path, "cannot make an event");
    }
    return std::unique_ptr<MeetingPoint>(new MeetingPoint(std::move(path), std::move(listener),
                                                          std::move(stop), std::move(callbacks)));
}

MeetingPoint::MeetingPoint(std::string path, net::Descriptor listener, net::Descriptor stop,
                           Callbacks callbacks)
    : path_(std::move(path)),
      listener_(std::move(listener)),
      stop_(std::move(stop)),
      callbacks_(std::move(callbacks)),
      thread_([this] { serve(); }) {}

MeetingPoint::~MeetingPoint() {
    close();
}

void MeetingPoint::close() {
    if (!thread_.joinable()) {
        return;
    }
    ::eventfd_write(stop_.number(), 1);
    thread_.join();
    listener_ = net::Descriptor();
    if (!is_shared_.load()) {
        ::unlink(path_.c_str());
    }
}

void MeetingPoint::serve() {
    std::array<pollfd, 2> entries{pollfd{listener_.number(), POLLIN, 0},
                                  pollfd{stop_.number(), POLLIN, 0}};
    while (!is_replaced_.load()) {
        if (::poll(entries.data(), entries.size(), -1) < 0 && errno != EINTR) {
            spdlog::error("--take-over {}: {}", path_, std::strerror(errno));
            return;
        }
        if (entries[1].revents != 0) {
            return;
        }
        if (entries[0].revents == 0) {
            continue;
        }
        const net::Descriptor line(::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!line.is_open()) {
            continue;
        }
        if (const auto newcomer = peer_of_same_user(line)) {
            contain("a take-over", [&] { meet(line, *newcomer); });
        } else {
            spdlog::warn("--take-over {}: refused a process of another user", path_);
        }
    }
}

/// Whatever goes wrong before the newcomer is ready, this process goes on.
void MeetingPoint::meet(const net::Descriptor& line, pid_t newcomer) {
    const auto hello = receive_message(line, words::kAnswerTime, stop_);
    if (!hello || hello->text != words::kHello) {
        spdlog::warn("process {} connected to {} and did not ask to take over", newcomer, path_);
        return;
    }
    spdlog::info("process {} takes over; serving until it is ready", newcomer);
    is_shared_.store(true);
    const auto handed = hand_over(line);
    const auto ready = handed ? receive_message(line, words::kReadyTime, stop_) : handed.error();
    if (ready && ready->text == words::kReady) {
        is_replaced_.store(true);
        static_cast<void>(send_message(line, words::kLeaving));  // it may be gone: then all is lost
        callbacks_.replaced();
        return;
    }
    if (ready.has_error() && ready.error().kind() == ErrorKind::Draining) {
        return;  // what the newcomer has by now, it keeps
    }
    is_shared_.store(false);
    static_cast<void>(send_message(line, words::kLate));  // in vain where the newcomer is dead
    spdlog::warn("process {} did not become ready ({}); going on", newcomer,
                 ready ? "it said something else" : ready.error().message());
}

Result<void> MeetingPoint::hand_over(const net::Descriptor& line) {
    auto sockets = callbacks_.sockets();
    auto own = listener_.duplicate();
    if (!sockets || !own) {
        return sockets ? own.error() : sockets.error();
    }
    const auto data = sockets->is_data_given ? words::kGivenData : words::kData;
    while (!sockets->data.empty()) {
        if (const auto sent = send_message(line, data, take_some(sockets->data)); !sent) {
            return sent.error();
        }
    }
    if (sockets->admin.is_open()) {
        const auto admin = sockets->is_admin_given ? words::kGivenAdmin : words::kAdmin;
        const auto sent = send_message(line, admin, alone(std::move(sockets->admin)));
        if (!sent) {
            return sent.error();
        }
    }
    if (const auto sent = send_message(line, words::kMeetingPoint, alone(std::move(*own))); !sent) {
        return sent.error();
    }
    return send_message(line, std::string(words::kAllFrom) + std::to_string(::getpid()));
}

}  // namespace prefix_router::app
