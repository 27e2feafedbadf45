#include "proxy/services.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <thread>
#include <utility>

#include <spdlog/spdlog.h>

namespace prefix_router::proxy {
namespace {

constexpr std::size_t kMostKept = std::size_t{64} << 20;

}  // namespace

std::size_t thread_count(const config::Config& config) {
    const auto cores = std::max(1U, std::thread::hardware_concurrency());
    return config.threads == 0 ? cores : config.threads;
}

std::size_t kept_buffers(const config::Config& config) {
    return std::min(kMostKept, config.limits.buffered_bytes / thread_count(config));
}

std::uint32_t Services::connection_limit(const config::Config& config) {
    const std::uint32_t configured = config.limits.connections;
    rlimit descriptors{};
    if (::getrlimit(RLIMIT_NOFILE, &descriptors) != 0 || descriptors.rlim_cur == RLIM_INFINITY) {
        return configured;
    }
    // Logs, the admin listener and its clients; each thread's loop and listener.
    const rlim_t own = 16 + rlim_t{8} * thread_count(config);
    const rlim_t left = descriptors.rlim_cur - std::min(own, descriptors.rlim_cur);
    const auto half = std::max<rlim_t>(1, left / 2);
    if (half >= configured) {
        return configured;
    }
    spdlog::info("at most {} client connections: the process may have {} descriptors", half,
                 descriptors.rlim_cur);
    return static_cast<std::uint32_t>(half);
}

void Services::take(std::shared_ptr<const Settings> next) {
    const config::Config& config = next->config;
    memory.set_limit(config.limits.buffered_bytes, kept_back(config));
    const bool is_other_limit =
        config.limits.connections != settings.load()->config.limits.connections;
    if (is_other_limit) {
        connections.limit.store(connection_limit(config));
    }
    retry_budget.set_share(config.retry.budget);
    settings.store(std::move(next));
}

}  // namespace prefix_router::proxy
