#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prefix_router/base/error.hpp"
#include "prefix_router/net/descriptor.hpp"

namespace prefix_router::app {

/// One message between two processes on a machine: a short text, with descriptors (SCM_RIGHTS).
struct LocalMessage {
    std::string text;
    std::vector<net::Descriptor> descriptors;
};

/// The most that one message carries; the kernel's limit is 253.
inline constexpr std::size_t kDescriptorsPerMessage = 200;

/// A socket that keeps messages apart (SOCK_SEQPACKET). Error: Io.
Result<net::Descriptor> local_socket();

/// Error: Io, also when the other side is gone.
Result<void> send_message(const net::Descriptor& socket, std::string_view text,
                          const std::vector<net::Descriptor>& descriptors = {});

/// The next message. `interrupt` ends the wait when it can be read. Errors: ResetBeforeResponse
/// when the other side is gone, FirstByteTimeout when it says nothing for `patience`, Draining when
/// interrupted, Io.
Result<LocalMessage> receive_message(const net::Descriptor& socket,
                                     std::chrono::milliseconds patience,
                                     const net::Descriptor& interrupt = {});

/// The process at the other end, when it belongs to this process's user.
std::optional<pid_t> peer_of_same_user(const net::Descriptor& socket);

}  // namespace prefix_router::app
