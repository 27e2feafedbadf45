#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "prefix_router/base/random.hpp"

namespace prefix_router::tracing {

using TraceId = std::array<std::uint8_t, 16>;
using SpanId = std::array<std::uint8_t, 8>;

/// Where in which trace something happens (W3C Trace Context, `traceparent`).
struct TraceContext {
    static constexpr std::uint8_t kSampled = 0x01;
    static constexpr std::uint8_t kRandom = 0x02;  ///< the trace id is random (level 2)

    TraceId trace{};
    SpanId span{};
    std::uint8_t flags = 0;

    bool is_sampled() const { return (flags & kSampled) != 0; }
};

/// Reads "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", and of later versions what
/// they have in common with it. nullopt: absent, malformed or all zero.
std::optional<TraceContext> parse_traceparent(std::string_view value);
/// Always as version 00.
std::string to_traceparent(const TraceContext& context);

SpanId make_span_id(Random& random);
TraceId make_trace_id(Random& random);

/// Two lower-case digits a byte.
void append_hex(std::string& out, const std::uint8_t* bytes, std::size_t size);

}  // namespace prefix_router::tracing
