#include "proxy/services.hpp"

#include <sys/resource.h>

#include <algorithm>

#include <spdlog/spdlog.h>

namespace prefix_router::proxy {

std::uint32_t Services::connection_limit(std::uint32_t configured) {
    rlimit descriptors{};
    if (::getrlimit(RLIMIT_NOFILE, &descriptors) != 0 || descriptors.rlim_cur == RLIM_INFINITY) {
        return configured;
    }
    const auto half = std::max<rlim_t>(1, descriptors.rlim_cur / 2);
    if (half >= configured) {
        return configured;
    }
    spdlog::info("at most {} client connections: the process may have {} descriptors", half,
                 descriptors.rlim_cur);
    return static_cast<std::uint32_t>(half);
}

}  // namespace prefix_router::proxy
