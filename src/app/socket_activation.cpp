#include "app/socket_activation.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace prefix_router::app {
namespace {

constexpr int kFirstDescriptor = 3;  // SD_LISTEN_FDS_START
constexpr int kMostDescriptors = 1024;

std::string take_variable(const char* name) {
    const char* const value = std::getenv(name);
    std::string text = value == nullptr ? "" : value;
    ::unsetenv(name);
    return text;
}

std::optional<int> whole_number(const std::string& text) {
    int number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    return error == std::errc{} && rest == end && !text.empty() ? std::optional(number)
                                                                : std::nullopt;
}

bool has_option(int descriptor, int option, int wanted) {
    int value = 0;
    socklen_t size = sizeof value;
    return ::getsockopt(descriptor, SOL_SOCKET, option, &value, &size) == 0 && value == wanted;
}

/// As the router's own are: not for child processes, never blocking.
Result<net::Descriptor> adopt(int number) {
    if (!has_option(number, SO_TYPE, SOCK_STREAM) || !has_option(number, SO_ACCEPTCONN, 1)) {
        return Error(ErrorKind::InvalidConfiguration,
                     "LISTEN_FDS: descriptor " + std::to_string(number) +
                         " is no listening stream socket; use ListenStream= and Accept=no");
    }
    net::Descriptor socket(number);
    ::fcntl(number, F_SETFD, FD_CLOEXEC);
    ::fcntl(number, F_SETFL, ::fcntl(number, F_GETFL) | O_NONBLOCK);
    return socket;
}

/// The part of "a:b:c" before the first colon, which it takes off.
std::string_view next_name(std::string_view& names) {
    const auto end = names.find(':');
    const auto name = names.substr(0, end);
    names = end == std::string_view::npos ? std::string_view() : names.substr(end + 1);
    return name;
}

}  // namespace

Result<ListeningSockets> sockets_from_service_manager() {
    const auto process = whole_number(take_variable("LISTEN_PID"));
    const std::string told = take_variable("LISTEN_FDS");
    const auto count = whole_number(told);
    const std::string names = take_variable("LISTEN_FDNAMES");
    ListeningSockets sockets;
    if (process != ::getpid() || told.empty()) {
        return sockets;
    }
    if (!count || *count < 0 || *count > kMostDescriptors) {
        return Error(ErrorKind::InvalidConfiguration,
                     "LISTEN_FDS: '" + told +
                         "' is no number of descriptors that can be served; it may be from 0 to " +
                         std::to_string(kMostDescriptors));
    }
    std::string_view names_left = names;
    for (int i = 0; i < *count; ++i) {
        auto socket = adopt(kFirstDescriptor + i);
        if (!socket) {
            return socket.error();
        }
        if (next_name(names_left) == "admin") {
            if (sockets.is_admin_given) {
                return Error(ErrorKind::InvalidConfiguration,
                             "LISTEN_FDNAMES: two sockets are named admin, and one is served; give "
                             "the unit with FileDescriptorName=admin one ListenStream=");
            }
            sockets.admin = std::move(*socket);
            sockets.is_admin_given = true;
        } else {
            sockets.data.push_back(std::move(*socket));
            sockets.is_data_given = true;
        }
    }
    return sockets;
}

}  // namespace prefix_router::app
