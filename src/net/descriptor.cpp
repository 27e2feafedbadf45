#include "prefix_router/net/descriptor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace prefix_router::net {

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
    if (this != &other) {
        const Descriptor old(std::exchange(number_, other.release()));
    }
    return *this;
}

Descriptor::~Descriptor() {
    if (is_open()) {
        ::close(number_);
    }
}

Result<Descriptor> Descriptor::duplicate() const {
    const int copy = ::fcntl(number_, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) {
        return Error(ErrorKind::Io,
                     std::string("cannot duplicate a descriptor: ") + std::strerror(errno));
    }
    return Descriptor(copy);
}

}  // namespace prefix_router::net
