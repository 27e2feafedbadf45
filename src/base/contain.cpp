#include "prefix_router/base/contain.hpp"

#include <spdlog/spdlog.h>

namespace prefix_router {

void tell_contained(std::string_view errand, const std::exception& failure) noexcept {
    try {
        spdlog::error("{} failed: {}", errand, failure.what());
    } catch (const std::exception&) {
        return;
    }
}

}  // namespace prefix_router
