#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "prefix_router/tracing/trace_context.hpp"

namespace prefix_router::tracing {

using AttributeValue = std::variant<std::string, std::int64_t, double>;

/// One request on its way through the router, as it goes to the collector.
struct Span {
    TraceContext context;          ///< its own id in the trace
    std::optional<SpanId> parent;  ///< nullopt: the trace begins here
    std::string trace_state;
    std::string name;
    std::chrono::nanoseconds start{};  ///< since 1970
    std::chrono::nanoseconds end{};
    bool has_failed = false;
    std::vector<std::pair<std::string_view, AttributeValue>> attributes;  ///< names are literals
};

}  // namespace prefix_router::tracing
