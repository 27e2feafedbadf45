#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "prefix_router/app/listening_sockets.hpp"
#include "prefix_router/base/error.hpp"
#include "prefix_router/net/descriptor.hpp"

namespace prefix_router::app {

/// The Unix socket at which this process can be replaced (docs/adr/0007), served by a thread of its
/// own: whoever of the same user connects gets the listening sockets, one newcomer at a time, and
/// this process is done when the newcomer says that it is ready. One owner.
class MeetingPoint {
  public:
    struct Callbacks {
        std::function<Result<ListeningSockets>()> sockets;  ///< copies, for a newcomer
        std::function<void()> replaced;                     ///< on the thread; must not close()
    };

    /// Serves at `path`, on `inherited` where a predecessor gave it. A socket that a dead process
    /// left there is replaced. Errors: Io, with a sentence for the operator.
    static Result<std::unique_ptr<MeetingPoint>> open(std::string path, net::Descriptor inherited,
                                                      Callbacks callbacks);
    ~MeetingPoint();
    MeetingPoint(const MeetingPoint&) = delete;
    MeetingPoint& operator=(const MeetingPoint&) = delete;

    /// Ends the thread and removes the socket, unless a newcomer has it. Idempotent.
    void close();
    /// Final after close().
    bool is_replaced() const { return is_replaced_.load(); }

  private:
    MeetingPoint(std::string path, net::Descriptor listener, net::Descriptor stop,
                 Callbacks callbacks);
    void serve();
    void meet(const net::Descriptor& line, pid_t newcomer);
    Result<void> hand_over(const net::Descriptor& line);

    std::string path_;
    net::Descriptor listener_;
    net::Descriptor stop_;
    Callbacks callbacks_;
    std::atomic<bool> is_replaced_{false};
    std::atomic<bool> is_shared_{false};  // a newcomer has the socket, or may have
    std::thread thread_;
};

}  // namespace prefix_router::app
