#include "prefix_router/base/random.hpp"

#include <random>

namespace prefix_router {

std::uint64_t seed_from_system() {
    std::random_device device;
    return (std::uint64_t{device()} << 32) | device();
}

}  // namespace prefix_router
