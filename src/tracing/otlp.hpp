#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "prefix_router/tracing/span.hpp"

namespace prefix_router::tracing {

/// Whose spans they are.
struct Service {
    std::string name;
    std::string version;
    std::string instance;  ///< tells this process from its siblings and successors
};

/// An ExportTraceServiceRequest in OTLP's JSON encoding. Bytes that are no UTF-8 are replaced.
std::string encode_spans(const Service& service, std::span<const Span> spans);

/// How many spans a collector's 2xx answer says that it did not take.
std::uint64_t rejected_spans(std::string_view answer);

}  // namespace prefix_router::tracing
