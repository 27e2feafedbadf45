#include "prefix_router/tracing/trace_context.hpp"

#include <algorithm>

namespace prefix_router::tracing {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";
constexpr std::size_t kSize = 55;  // of version 00

/// Lower-case digits only, as the specification has it.
bool read_hex(std::string_view text, std::uint8_t* out) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto digit = kDigits.find(text[i]);
        if (digit == std::string_view::npos) {
            return false;
        }
        out[i / 2] = static_cast<std::uint8_t>(std::size_t{out[i / 2]} << 4 | digit);
    }
    return true;
}

bool is_zero(const auto& bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

template <class Id>
Id make_id(Random& random) {
    Id id{};
    while (is_zero(id)) {
        for (std::size_t i = 0; i < id.size(); i += sizeof(std::uint64_t)) {
            const std::uint64_t bits = random();
            for (std::size_t k = 0; k < sizeof bits; ++k) {
                id[i + k] = static_cast<std::uint8_t>(bits >> (8 * k));
            }
        }
    }
    return id;
}

}  // namespace

std::optional<TraceContext> parse_traceparent(std::string_view value) {
    constexpr std::uint8_t kForbiddenVersion = 0xff;
    std::uint8_t version = 0;
    const bool has_marks =
        value.size() >= kSize && value[2] == '-' && value[35] == '-' && value[52] == '-';
    if (!has_marks || !read_hex(value.substr(0, 2), &version) || version == kForbiddenVersion) {
        return std::nullopt;
    }
    const bool has_more = value.size() > kSize;
    if (has_more && (version == 0 || value[kSize] != '-')) {
        return std::nullopt;
    }
    TraceContext context;
    const bool is_read = read_hex(value.substr(3, 32), context.trace.data()) &&
                         read_hex(value.substr(36, 16), context.span.data()) &&
                         read_hex(value.substr(53, 2), &context.flags);
    if (!is_read || is_zero(context.trace) || is_zero(context.span)) {
        return std::nullopt;
    }
    context.flags &= TraceContext::kSampled | TraceContext::kRandom;
    return context;
}

std::string to_traceparent(const TraceContext& context) {
    std::string text("00-");
    text.reserve(kSize);
    append_hex(text, context.trace.data(), context.trace.size());
    text += '-';
    append_hex(text, context.span.data(), context.span.size());
    text += '-';
    append_hex(text, &context.flags, 1);
    return text;
}

void append_hex(std::string& out, const std::uint8_t* bytes, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
        out += kDigits[bytes[i] >> 4];
        out += kDigits[bytes[i] & 15];
    }
}

SpanId make_span_id(Random& random) {
    return make_id<SpanId>(random);
}
TraceId make_trace_id(Random& random) {
    return make_id<TraceId>(random);
}

}  // namespace prefix_router::tracing
