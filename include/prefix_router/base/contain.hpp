#pragma once

#include <exception>
#include <string_view>
#include <utility>

namespace prefix_router {

/// A line in the log, or none where there is no memory for one.
void tell_contained(std::string_view errand, const std::exception& failure) noexcept;

/// Runs `work`, of which nothing else depends: what it throws, such as memory that is not there,
/// costs this errand and not the process. False: it threw.
template <class Work>
bool contain(std::string_view errand, Work&& work) noexcept {
    try {
        std::forward<Work>(work)();
        return true;
    } catch (const std::exception& failure) {
        tell_contained(errand, failure);
        return false;
    }
}

}  // namespace prefix_router
