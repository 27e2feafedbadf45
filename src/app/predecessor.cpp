#include "app/predecessor.hpp"

#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include <spdlog/spdlog.h>

#include "prefix_router/net/endpoint.hpp"

#include "app/local_message.hpp"
#include "app/take_over_words.hpp"

namespace prefix_router::app {
namespace {

Error at(const std::string& path, const std::string& what) {
    return Error(ErrorKind::Io, "--take-over " + path + ": " + what);
}

}  // namespace

Predecessor::Predecessor(net::Descriptor line) : line_(std::move(line)) {}

Result<std::optional<Predecessor>> Predecessor::find(const std::string& path) {
    const auto endpoint = net::Endpoint::from_unix_path(path);
    if (!endpoint) {
        return at(path, endpoint.error().message());
    }
    struct stat found{};
    if (::lstat(path.c_str(), &found) == 0 && !S_ISSOCK(found.st_mode)) {
        return at(path, "there is a file that is no socket; choose another name");
    }
    auto line = local_socket();
    if (!line) {
        return line.error();
    }
    if (::connect(line->number(), endpoint->address(), endpoint->size()) != 0) {
        if (errno == ENOENT || errno == ECONNREFUSED) {
            return std::optional<Predecessor>();
        }
        return at(path, std::string("cannot connect: ") + std::strerror(errno));
    }
    if (!peer_of_same_user(*line)) {
        return at(path, "the process there belongs to another user");
    }
    Predecessor predecessor(std::move(*line));
    if (const auto received = predecessor.receive_sockets(); !received) {
        return at(path, "the process there does not hand over: " + received.error().message());
    }
    return std::optional(std::move(predecessor));
}

Result<void> Predecessor::receive_sockets() {
    if (const auto sent = send_message(line_, words::kHello); !sent) {
        return sent.error();
    }
    while (true) {
        auto message = receive_message(line_, words::kAnswerTime);
        if (!message) {
            return message.error();
        }
        auto& descriptors = message->descriptors;
        const std::string& text = message->text;
        if (text == words::kData || text == words::kGivenData) {
            std::ranges::move(descriptors, std::back_inserter(sockets.data));
            sockets.is_data_given = text == words::kGivenData;
        } else if ((text == words::kAdmin || text == words::kGivenAdmin) && !descriptors.empty()) {
            sockets.admin = std::move(descriptors.front());
            sockets.is_admin_given = text == words::kGivenAdmin;
        } else if (text == words::kMeetingPoint && !descriptors.empty()) {
            meeting_point = std::move(descriptors.front());
        } else if (text.starts_with(words::kAllFrom) && meeting_point.is_open()) {
            process_ = text.substr(words::kAllFrom.size());
            return boost::system::in_place_value;
        } else {
            return Error(ErrorKind::BadResponse, "it says '" + text + "'");
        }
    }
}

Result<void> Predecessor::replace() {
    // Whether it can be sent or not: what counts is the last word that the other one said.
    const auto sent = send_message(line_, words::kReady);
    const auto answer = receive_message(line_, words::kAnswerTime);
    line_ = net::Descriptor();
    if (!answer || !sent) {
        spdlog::warn("process {} ended before it was replaced", process_);
    } else if (answer->text != words::kLeaving) {
        return Error(ErrorKind::Overloaded,
                     "process " + process_ + " did not wait for this one and goes on");
    }
    return boost::system::in_place_value;
}

}  // namespace prefix_router::app
