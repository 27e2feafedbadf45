#pragma once

#include <cstdint>
#include <optional>

#include "prefix_router/base/clock.hpp"
#include "prefix_router/config/config.hpp"
#include "prefix_router/http/request_head.hpp"

#include "proxy/api_keys.hpp"

namespace prefix_router::proxy {

/// What a request is to the queue: its priority, whose share it takes, when its answer must have
/// begun. The one place that reads them off a request.
struct RequestClass {
    config::Priority priority = config::Priority::Normal;
    std::uint64_t tenant = 0;  ///< 0: nobody in particular
    std::optional<TimePoint> deadline;
};

/// Headers count only where the configuration names them; a value that cannot be read is as if it
/// were absent. `arrived`: when the request's first byte came.
/// A `client` that showed its key is its own tenant, and a header may only lower its priority.
RequestClass classify(const http::RequestHead& head, const config::Queue& queue, TimePoint arrived,
                      const Client* client = nullptr);

}  // namespace prefix_router::proxy
