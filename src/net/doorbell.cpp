#include "net/doorbell.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace prefix_router::net {

/// The set ends its wait for it; there is nothing else to do.
class Doorbell::Ear final : public SocketSet::Member {
  public:
    using Member::Member;

    bool listen() {
        tell_readable();
        return !is_lost();
    }

  private:
    void on_events(std::uint32_t /*events*/) override {}
};

Doorbell::Doorbell(SocketSet& sockets) : event_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (event_.is_open()) {
        ear_ = new Ear(sockets, event_.number());
        if (ear_->listen()) {
            return;
        }
        ear_->retire();
    }
    throw std::system_error(errno, std::generic_category(), "cannot make a worker's doorbell");
}

Doorbell::~Doorbell() {
    ear_->retire();
}

// The counter is never read: each write to it is a change of its own.
void Doorbell::ring() {
    if (!has_rung_.exchange(true)) {
        const std::uint64_t one = 1;
        while (::write(event_.number(), &one, sizeof one) < 0 && errno == EINTR) {
        }
    }
}

}  // namespace prefix_router::net
