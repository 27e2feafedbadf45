#pragma once

#include <optional>
#include <string>

#include "prefix_router/app/listening_sockets.hpp"
#include "prefix_router/base/error.hpp"
#include "prefix_router/net/descriptor.hpp"

namespace prefix_router::app {

/// The running process whose place this one takes (docs/adr/0007): it gave its listening sockets
/// and waits for a word. Until replace() it goes on as before, and when this process dies, too.
class Predecessor {
  public:
    /// Asks the process at the Unix socket `path`; empty when nobody is there. Errors: Io and
    /// InvalidConfiguration, with a sentence for the operator.
    static Result<std::optional<Predecessor>> find(const std::string& path);

    /// To be taken by who serves: its listening sockets, and the socket at `path` itself.
    ListeningSockets sockets;
    net::Descriptor meeting_point;

    /// Call when this process accepts connections: the predecessor drains. Error: Overloaded when
    /// it waited too long and goes on, so that this process has to end.
    Result<void> replace();

    const std::string& process() const { return process_; }

  private:
    explicit Predecessor(net::Descriptor line);
    Result<void> receive_sockets();

    net::Descriptor line_;
    std::string process_;  // its number, as it says: the socket knows only who made it
};

}  // namespace prefix_router::app
