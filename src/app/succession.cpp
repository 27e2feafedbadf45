#include "app/succession.hpp"

#include <unistd.h>

#include <utility>

#include <spdlog/spdlog.h>

#include "app/socket_activation.hpp"

namespace prefix_router::app {

Result<ListeningSockets> Succession::sockets(const config::Config& config) {
    auto passed = sockets_from_service_manager();
    if (!passed || path_.empty()) {
        return passed;
    }
    auto found = Predecessor::find(path_);
    if (!found) {
        return found.error();
    }
    std::optional<Predecessor>& there = *found;
    if (!there) {
        return passed;
    }
    Predecessor& predecessor = predecessor_.emplace(std::move(*there));
    spdlog::info("taking over from process {}: {} listening sockets", predecessor.process(),
                 predecessor.sockets.data.size());
    return completed(matching(std::move(predecessor.sockets), config), std::move(*passed));
}

Result<void> Succession::begin(Application& application) {
    if (path_.empty()) {
        return boost::system::in_place_value;
    }
    net::Descriptor socket;
    if (predecessor_) {
        if (const auto replaced = predecessor_->replace(); !replaced) {
            return replaced.error();
        }
        socket = std::move(predecessor_->meeting_point);
    }
    const MeetingPoint::Callbacks callbacks{
        [&application] { return application.listening_sockets(); },
        [] { ::kill(::getpid(), kReplacedSignal); }};
    auto opened = MeetingPoint::open(path_, std::move(socket), callbacks);
    if (!opened) {
        return opened.error();
    }
    meeting_point_ = std::move(*opened);
    spdlog::info("can be replaced by a router with --take-over {}", path_);
    return boost::system::in_place_value;
}

proxy::Successor Succession::end() {
    if (!meeting_point_) {
        return proxy::Successor::None;
    }
    meeting_point_->close();
    return meeting_point_->is_replaced() ? proxy::Successor::Accepts : proxy::Successor::None;
}

}  // namespace prefix_router::app
