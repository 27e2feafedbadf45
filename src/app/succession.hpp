#pragma once

#include <csignal>
#include <memory>
#include <optional>
#include <string>

#include "prefix_router/app/application.hpp"
#include "prefix_router/app/listening_sockets.hpp"
#include "prefix_router/base/error.hpp"

#include "app/meeting_point.hpp"
#include "app/predecessor.hpp"

namespace prefix_router::app {

/// How this process comes to its listening sockets and passes them on: from a predecessor at the
/// --take-over socket, else from the service manager, else it binds; to whoever asks at that
/// socket. One owner calls sockets(), begin() and end() in this order.
class Succession {
  public:
    /// Sent to this process when a successor has taken its place.
    static constexpr int kReplacedSignal = SIGUSR1;

    /// `path` of the --take-over socket; "" for none.
    explicit Succession(std::string path) : path_(std::move(path)) {}

    /// What to serve on instead of binding. Errors: Io, InvalidConfiguration.
    Result<ListeningSockets> sockets(const config::Config& config);
    /// `application` serves: replaces the predecessor, and can be replaced from now on. On an error
    /// (Io, Overloaded) this process has to end.
    Result<void> begin(Application& application);
    bool is_replaced() const { return meeting_point_ && meeting_point_->is_replaced(); }
    /// Nobody takes over any more; says whether somebody has.
    proxy::Successor end();

  private:
    std::string path_;
    std::optional<Predecessor> predecessor_;
    std::unique_ptr<MeetingPoint> meeting_point_;
};

}  // namespace prefix_router::app
