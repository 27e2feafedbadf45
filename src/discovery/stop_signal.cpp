#include "discovery/stop_signal.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>

namespace prefix_router::discovery {

StopSignal::StopSignal() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (descriptor_ < 0) {
        throw std::system_error(errno, std::generic_category(), "eventfd");
    }
}

StopSignal::~StopSignal() {
    ::close(descriptor_);
}

void StopSignal::raise() {
    // Fails only where the counter is full, and then it is raised.
    static_cast<void>(::eventfd_write(descriptor_, 1));
}

bool StopSignal::is_raised() const {
    pollfd waiting{descriptor_, POLLIN, 0};
    return ::poll(&waiting, 1, 0) > 0;
}

void StopSignal::wait(std::chrono::milliseconds time) const {
    constexpr std::chrono::milliseconds::rep kLongest = std::numeric_limits<int>::max();
    pollfd waiting{descriptor_, POLLIN, 0};
    static_cast<void>(::poll(
        &waiting, 1, static_cast<int>(std::clamp<decltype(kLongest)>(time.count(), 0, kLongest))));
}

}  // namespace prefix_router::discovery
