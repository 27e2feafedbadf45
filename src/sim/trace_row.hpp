#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prefix_router/base/error.hpp"
#include "prefix_router/base/ids.hpp"

namespace prefix_router::sim {

/// One line of a trace file as it stands there: Mooncake's format (timestamp, lengths, hash_ids)
/// and what this router's recorder adds. Numbers are checked for their ranges, fields not known are
/// ignored.
struct TraceRow {
    double timestamp_ms = 0;
    Tokens input_length = 1;
    Tokens output_length = 1;
    std::vector<std::uint64_t> hash_ids;
    std::vector<std::uint32_t> block_tokens;  ///< empty, or one per hash id
    std::optional<std::string> session;
    double think_s = 0;
};

/// What a header line says.
struct TraceHeader {
    std::optional<Tokens> block_size;
};

struct TraceLine {
    std::optional<TraceHeader> header;  ///< else: a request
    TraceRow row;
};

/// Parses one line; the error message says what is wrong, without file or line.
Result<TraceLine> parse_trace_line(std::string_view line);

}  // namespace prefix_router::sim
