/// traceparent, and the headers for a collector: what is read is written as the same; nothing but
/// the specification's own spelling is read.

#include <optional>
#include <string>

#include "prefix_router/tracing/headers.hpp"
#include "prefix_router/tracing/trace_context.hpp"

#include "fuzz/fuzzing.hpp"

namespace prefix_router::tracing {
namespace {

bool is_same(const TraceContext& a, const TraceContext& b) {
    return a.trace == b.trace && a.span == b.span && a.flags == b.flags;
}

void read_context(std::string_view value) {
    const auto context = parse_traceparent(value);
    if (!context) return;
    const std::string written = to_traceparent(*context);
    fuzz::require(written.substr(2, 51) == value.substr(2, 51),
                  "the ids are passed on as they are");
    fuzz::require(value.size() == written.size() || value.substr(0, 2) != "00",
                  "nothing follows version 00");
    const auto again = parse_traceparent(written);
    fuzz::require(again && is_same(*again, *context), "the same when written out again");
}

void read_headers(std::string_view text) {
    const auto headers = parse_headers(text);
    if (headers.has_error()) {
        fuzz::require(!headers.error().message().empty(), "an error says what is wrong");
        return;
    }
    for (const std::string& header : *headers) {
        fuzz::require(header.find(": ") != std::string::npos && header.front() != ':',
                      "a header has a name");
        fuzz::require(header.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos,
                      "a header is one line");
    }
}

}  // namespace
}  // namespace prefix_router::tracing

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const std::string_view input = prefix_router::fuzz::view_of(bytes, size);
    prefix_router::tracing::read_context(input);
    prefix_router::tracing::read_headers(input);
    return 0;
}
